import { routes } from "../../contract/routes.ts";
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline/promises";
import { z } from "zod";
import type { NameSuggestion } from "../../contract/curation.ts";
import type { Answered } from "../../contract/route.ts";
import type { Sent } from "../../contract/wire.ts";
import { callDaemon } from "../../daemon/daemon-client.ts";
import type { PersonAddress } from "../../daemon/daemon-file.ts";
import { EXIT, PmlError } from "../../base/errors.ts";
import { reachAsPerson } from "../as-person.ts";
import type { Answer, Command, Input, OptionValues } from "../command.ts";
import { noStartOption } from "../daemon-access.ts";
import { decideNames, type NameDecisions } from "../decide-names.ts";
import { oneLine } from "../inbox-item.ts";
import { formatPairs, formatTable } from "../table.ts";

export const curate: Command = {
  name: "curate",
  group: "Decide",
  summary: "names for capabilities that have none",
  examples: ["pml curate", "pml curate --auto --min-confidence 0.9"],
  options: [
    { flags: "--suggest", description: "only show names, on a terminal too" },
    { flags: "--auto", description: "give every name that is sure enough" },
    { flags: "--apply <file>", description: 'give the names of a JSON file: [{"id": "…", "name": "…"}]' },
    { flags: "--reject <id>", description: "never propose this one's name again" },
    { flags: "--stats", description: "how many proposals were taken" },
    { flags: "--dry-run", description: "change nothing, keep nothing" },
    { flags: "--min-confidence <number>", description: "with --auto: above this", parse: readConfidence },
    { flags: "--all", description: "also those that have a name" },
    { flags: "--ns <namespace>", description: "only what belongs into this namespace" },
    { flags: "--min-usage <number>", description: "only what was used so often", parse: Number },
    noStartOption,
  ],
  async run(input): Promise<Answer> {
    const { options } = input;
    const daemon = await reachAsPerson(input);
    if (options["stats"] === true) return showStats(daemon);
    if (options["apply"] !== undefined)
      return apply(daemon, { renames: readRenames(String(options["apply"])), rejects: [] });
    if (options["reject"] !== undefined) return apply(daemon, { renames: [], rejects: [String(options["reject"])] });
    if (options["auto"] === true) return auto(daemon, options);
    return suggest(daemon, input);
  },
};

function readConfidence(text: string): number {
  const value = Number(text);
  if (value >= 0 && value <= 1) return value;
  throw new PmlError("usage", `"${text}" is not a confidence`, { hint: "From 0 to 1: --min-confidence 0.9" });
}

function toRequest({ all, ns, minUsage, dryRun, minConfidence }: OptionValues): Sent<typeof routes.suggestNames.body> {
  return {
    filter: {
      unnamedOnly: all !== true,
      namespace: ns === undefined ? undefined : String(ns),
      minUsage: minUsage === undefined ? undefined : Number(minUsage),
    },
    dryRun: dryRun === true,
    minConfidence: minConfidence === undefined ? undefined : Number(minConfidence),
  };
}

async function suggest(daemon: PersonAddress, { options, terminal }: Input): Promise<Answer> {
  const data = await callDaemon(daemon, routes.suggestNames, { body: toRequest(options) });
  const { suggestions, warnings } = data;
  const interactive = process.stdin.isTTY && process.stdout.isTTY && !terminal.options.json;
  if (interactive && options["suggest"] !== true && options["dryRun"] !== true && suggestions.length > 0)
    return apply(daemon, await askPerson(suggestions));
  const notes = [...warnings.map((text) => `! ${text}`), ...(suggestions.length === 0 ? [] : [NEXT])];
  return { data, text: suggestions.length === 0 ? "Everything has a name" : formatSuggestions(suggestions), notes };
}

const NEXT = "Take what is sure: pml curate --auto   Your own names: pml curate --apply names.json";

async function askPerson(suggestions: readonly NameSuggestion[]): Promise<NameDecisions> {
  using reading = createInterface({ input: process.stdin, output: process.stderr });
  return await decideNames(suggestions, (question) => reading.question(question));
}

function formatSuggestions(suggestions: readonly NameSuggestion[]): string {
  return formatTable(
    suggestions.map(({ currentName, suggestedName, confidence, reasoning }) => ({
      capability: currentName,
      name: suggestedName,
      confidence: confidence.toFixed(2),
      why: oneLine(reasoning),
    })),
  );
}

async function auto(daemon: PersonAddress, options: OptionValues): Promise<Answer> {
  const data = await callDaemon(daemon, routes.applySureNames, { body: toRequest(options) });
  const waiting = data.waiting.length === 0 ? [] : [`${data.waiting.length} are left for you: pml curate`];
  return {
    data,
    text: formatApplied(data),
    notes: [...data.warnings.map((text) => `! ${text}`), ...waiting],
    ...exitOf(data),
  };
}

async function apply(daemon: PersonAddress, decisions: NameDecisions): Promise<Answer> {
  const data = await callDaemon(daemon, routes.decideNames, { body: decisions });
  const rejected = data.rejected.map((id) => `✓ ${id} will not be proposed this name again`);
  return { data, text: [formatApplied(data), ...rejected].filter(Boolean).join("\n"), ...exitOf(data) };
}

type Applied = Pick<Answered<typeof routes.decideNames>, "applied" | "failed">;

function formatApplied({ applied, failed }: Applied): string {
  if (applied.length + failed.length === 0) return "Nothing was named";
  return [
    ...applied.map(({ oldName, newName }) => `✓ ${oldName} → ${newName}     the old name goes on working`),
    ...failed.map(({ id, error }) => `✗ ${id}: ${oneLine(error)}`),
  ].join("\n");
}

function exitOf({ failed }: { readonly failed: readonly unknown[] }): { readonly exit?: number } {
  return failed.length === 0 ? {} : { exit: EXIT.failed };
}

const renames = z.array(z.object({ id: z.string(), name: z.string() }));

function readRenames(path: string): z.output<typeof renames> {
  const parsed = renames.safeParse(readJson(path));
  if (parsed.success) return parsed.data;
  throw new PmlError("usage", `${path} is no list of names`, {
    hint: 'It should be [{"id": "…", "name": "fs:read_json"}]',
  });
}

function readJson(path: string): unknown {
  try {
    return JSON.parse(readFileSync(path, "utf8")) as unknown;
  } catch (cause) {
    throw new PmlError("usage", `${path} cannot be read as JSON`, { hint: "See pml curate --json", cause });
  }
}

async function showStats(daemon: PersonAddress): Promise<Answer> {
  const { stats } = await callDaemon(daemon, routes.getCuration);
  const { acceptanceRate: rate, ...counts } = stats;
  const pairs = Object.fromEntries(Object.entries(counts).map(([name, count]) => [name, String(count)]));
  return {
    data: stats,
    text: formatPairs({ ...pairs, taken: rate === undefined ? "–" : `${Math.round(rate * 100)} %` }),
  };
}
