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
import { type DecidedPage, decideNames, type NameDecisions } from "../decide-names.ts";
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
    { flags: "--limit <number>", description: "only one page, of so many capabilities (at most 200)", parse: Number },
    { flags: "--cursor <cursor>", description: "only the page after this one, from next_cursor of --json" },
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

type Page = Pick<Sent<typeof routes.suggestNames.body>, "limit" | "cursor">;

/** Reads page after page to the last; with --limit or --cursor, that one page. */
async function* turnPages<Read extends { readonly next_cursor: string | null }>(
  { limit, cursor }: OptionValues,
  read: (page: Page) => Promise<Read>,
): AsyncGenerator<Read> {
  const size = limit === undefined ? {} : { limit: Number(limit) };
  const first = await read({ ...size, ...(cursor === undefined ? {} : { cursor: String(cursor) }) });
  yield first;
  if (limit !== undefined || cursor !== undefined) return;
  for (let next = first.next_cursor; next !== null;) {
    const page = await read({ cursor: next });
    yield page;
    next = page.next_cursor;
  }
}

async function suggest(daemon: PersonAddress, input: Input): Promise<Answer> {
  const { options, terminal } = input;
  const interactive = process.stdin.isTTY && process.stdout.isTTY && !terminal.options.json;
  if (interactive && options["suggest"] !== true && options["dryRun"] !== true) return decide(daemon, input);
  const pages = await Array.fromAsync(turnPages(options, (page) => readPage(daemon, options, page)));
  const suggestions = pages.flatMap((page) => page.suggestions);
  const warnings = pages.flatMap((page) => page.warnings);
  const next = pages.at(-1)?.next_cursor ?? null;
  const notes = [...toWarnings(warnings), ...toMore(next), ...(suggestions.length === 0 ? [] : [NEXT])];
  return {
    data: { suggestions, warnings, next_cursor: next },
    text: suggestions.length === 0 ? "Everything has a name" : formatSuggestions(suggestions),
    notes,
  };
}

type ProposedPage = Answered<typeof routes.suggestNames>;

function readPage(daemon: PersonAddress, options: OptionValues, page: Page): Promise<ProposedPage> {
  return callDaemon(daemon, routes.suggestNames, { body: { ...toRequest(options), ...page } });
}

/** Small enough to be decided, and kept, before the next page is asked about. */
const ASKED_AT_ONCE = 20;

/** Asks about page after page; what was decided about one is done before the next is shown. */
async function decide(daemon: PersonAddress, { options, terminal }: Input): Promise<Answer> {
  const done: Answered<typeof routes.decideNames>[] = [];
  let asked = 0;
  for await (const page of turnPages(options, (each) => readPage(daemon, options, { limit: ASKED_AT_ONCE, ...each }))) {
    for (const warning of toWarnings(page.warnings)) terminal.say(warning);
    if (page.suggestions.length === 0) continue;
    asked += page.suggestions.length;
    const { stopped, ...decisions } = await askPerson(page.suggestions);
    done.push(await callDaemon(daemon, routes.decideNames, { body: decisions }));
    if (stopped) break;
  }
  if (asked === 0) return { data: joinDecided(done), text: "Everything has a name" };
  return showDecided(joinDecided(done));
}

function joinDecided(done: readonly Answered<typeof routes.decideNames>[]): Answered<typeof routes.decideNames> {
  return {
    applied: done.flatMap(({ applied }) => applied),
    failed: done.flatMap(({ failed }) => failed),
    rejected: done.flatMap(({ rejected }) => rejected),
  };
}

function toWarnings(warnings: readonly string[]): string[] {
  return warnings.map((text) => `! ${text}`);
}

function toMore(next: string | null): string[] {
  return next === null ? [] : [`There are more: pml curate --cursor ${next}`];
}

const NEXT = "Take what is sure: pml curate --auto   Your own names: pml curate --apply names.json";

async function askPerson(suggestions: readonly NameSuggestion[]): Promise<DecidedPage> {
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
  const read = (page: Page): Promise<Answered<typeof routes.applySureNames>> =>
    callDaemon(daemon, routes.applySureNames, { body: { ...toRequest(options), ...page } });
  const pages = await Array.fromAsync(turnPages(options, read));
  const next = pages.at(-1)?.next_cursor ?? null;
  const data = {
    applied: pages.flatMap(({ applied }) => applied),
    failed: pages.flatMap(({ failed }) => failed),
    waiting: pages.flatMap(({ waiting }) => waiting),
    warnings: pages.flatMap(({ warnings }) => warnings),
    next_cursor: next,
  };
  const waiting = data.waiting.length === 0 ? [] : [`${data.waiting.length} are left for you: pml curate`];
  const notes = [...toWarnings(data.warnings), ...toMore(next), ...waiting];
  return { data, text: formatApplied(data), notes, ...exitOf(data) };
}

async function apply(daemon: PersonAddress, decisions: NameDecisions): Promise<Answer> {
  return showDecided(await callDaemon(daemon, routes.decideNames, { body: decisions }));
}

function showDecided(data: Answered<typeof routes.decideNames>): Answer {
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
