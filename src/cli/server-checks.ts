import { existsSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { environment } from "../config/environment.ts";
import type { Config } from "../config/load-config.ts";
import { allServers } from "../config/project-config.ts";
import { resolveServers, type ServerDefinition } from "../config/mcp-servers.ts";
import type { McpServerEntry } from "../config/schema.ts";
import { callDaemon } from "../daemon/daemon-client.ts";
import type { DaemonAddress } from "../daemon/daemon-file.ts";
import { type NameReport, reportNames } from "../catalogue/name-report.ts";
import { indexTools } from "../catalogue/catalogue.ts";
import { buildSurface } from "../catalogue/surface.ts";
import { findCommand } from "../base/find-command.ts";
import { type Probe, probeServer } from "../upstream/connection/probe-server.ts";
import { routes } from "../contract/routes.ts";
import type { ServerRow } from "../contract/servers.ts";
import { type Finding, fromError } from "./finding.ts";

type UsableServer = Extract<ServerDefinition, { state: "usable" }>;

/**
 * Checks every configured server, and the names of tools. Asks a running daemon, whose servers are the ones in use;
 * without one, starts each server and stops it again.
 */
export async function checkServers(config: Config, daemon: DaemonAddress | undefined): Promise<Finding[]> {
  // The bundled servers need PML_HOME, which a check must not create.
  const isNew = config.mcpServers === undefined && !existsSync(config.home);
  const entries = allServers(isNew ? { ...config, mcpServers: {} } : config);
  const definitions = resolveServers(entries, environment);
  try {
    return daemon === undefined ? await probeAll(definitions, config) : await askDaemon(definitions, daemon);
  } catch (error) {
    return [fromError("servers", error)];
  }
}

async function askDaemon(definitions: readonly ServerDefinition[], daemon: DaemonAddress): Promise<Finding[]> {
  const rows = await settledRows(daemon);
  const names = await callDaemon(daemon, routes.reportNames);
  const findings = definitions.map((definition) => {
    const row = rows.find(({ name }) => name === definition.name);
    if (definition.state !== "usable") return describeUnusable(definition, row);
    if (row === undefined) return missingInDaemon(definition.name);
    return checkCommand(definition) ?? describeRow(row);
  });
  return [...findings, describeNames(names)];
}

const SETTLE_MS = 10_000;

/** Waits for servers that are just starting. */
async function settledRows(daemon: DaemonAddress): Promise<readonly ServerRow[]> {
  const deadline = Date.now() + SETTLE_MS;
  for (;;) {
    const rows = await callDaemon(daemon, routes.listServers);
    const busy = rows.some(({ state }) => state === "connecting" || state === "idle");
    if (!busy || Date.now() > deadline) return rows;
    await sleep(100);
  }
}

async function probeAll(definitions: readonly ServerDefinition[], config: Config): Promise<Finding[]> {
  const connectMs = config.upstream.connectSeconds * 1000;
  const probes = new Map<string, Probe>();
  const findings = await Promise.all(
    definitions.map(async (definition) => {
      if (definition.state !== "usable") return describeUnusable(definition, undefined);
      const missing = checkCommand(definition);
      if (missing !== undefined) return missing;
      const probe = await probeServer(definition.name, definition.entry, connectMs);
      probes.set(definition.name, probe);
      const tools = probe.offer?.tools.length ?? 0;
      return describeRow({ ...probe.status, tools, changedTools: [] }, "pml up && pml logs");
    }),
  );
  const known = definitions
    .filter((each): each is UsableServer => each.state === "usable")
    .map(({ name, entry }) => ({ name, entry, offer: probes.get(name)?.offer, flags: new Map() }));
  return [
    ...findings,
    describeNames(
      reportNames(buildSurface({ tools: indexTools(known), servers: known, own: [], settings: config.gateway })),
    ),
  ];
}

function checkCommand({ name, entry }: UsableServer): Finding | undefined {
  const { command } = entry;
  if (command === undefined || findCommand(command, searchPath(entry), entry.cwd) !== undefined) return undefined;
  const where = /[/\\]/.test(command) ? "" : " in the PATH";
  return {
    check: `server ${name}`,
    state: "failure",
    value: `its command ${command} was not found${where}`,
    fix: `Install it, or put its whole path into "command"; PML's own PATH may be another than your shell's`,
  };
}

function searchPath({ env }: McpServerEntry): string {
  return env?.["PATH"] ?? environment["PATH"] ?? "";
}

function describeRow(row: ServerRow, logs = "pml logs"): Finding {
  const { name, state, tools = 0, protocol, startMs, restarts = 0, lastError, stderr = [] } = row;
  const check = `server ${name}`;
  if (state === "login_needed")
    return { check, state: "warning", value: lastError ?? "it wants a login", fix: `pml login ${name}` };
  const again = restarts > 0 ? `, restarted ${restarts} times` : "";
  if (state === "ready")
    return {
      check,
      state: "ok",
      value: `${tools} tools, protocol ${protocol ?? "?"}, started in ${startMs ?? "?"} ms${again}`,
    };
  return {
    check,
    state: "failure",
    value: lastError ?? `it is ${state}`,
    details: stderr.slice(-3).map((line) => `stderr: ${line}`),
    fix: `Everything it says: ${logs} ${name}`,
  };
}

function describeUnusable(definition: ServerDefinition, row: ServerRow | undefined): Finding {
  const check = `server ${definition.name}`;
  if (definition.state !== "unusable") return { check, state: "ok", value: "disabled" };
  // The environment of the daemon counts, not that of this command.
  if (row !== undefined && row.state !== "unusable" && row.state !== "disabled") return describeRow(row);
  return {
    check,
    state: "failure",
    value: definition.reason,
    fix: `Set it where PML is started, or give a default: \${NAME:-value}`,
  };
}

function missingInDaemon(name: string): Finding {
  return {
    check: `server ${name}`,
    state: "warning",
    value: "the running daemon does not have it: it was started with another configuration",
    fix: "Restart it: pml down && pml up",
  };
}

function describeNames({ offered, hidden, renamed }: NameReport): Finding {
  const counts = [
    `${offered} tools of servers`,
    ...(hidden.length === 0 ? [] : [`${hidden.length} hidden`]),
    ...(renamed.length === 0 ? [] : [`${renamed.length} renamed`]),
  ];
  return {
    check: "names",
    state: "ok",
    value: counts.join(", "),
    details: [
      ...hidden.map(({ tool, reason }) => `${tool} is hidden: ${reason}`),
      ...renamed.map(({ tool, name, reason }) => `${tool} is listed as ${name}: ${reason}`),
    ],
  };
}
