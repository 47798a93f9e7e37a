import { basename } from "node:path";
import type { Scope } from "../scope.ts";
import type { McpServerEntry } from "../../config/schema.ts";
import { findManifest, fromManifest, shorten } from "./package-manifest.ts";
import { PUBLISHER_META, SERVER_JSON_SCHEMA, type ServerJson } from "./server-json.ts";

/** A configured server with its `serverInfo`. */
export interface ConnectedServer {
  readonly name: string;
  readonly entry: Pick<McpServerEntry, "command" | "args" | "url" | "type">;
  readonly info: { readonly name: string; readonly version: string; readonly title?: string | undefined } | undefined;
}

/**
 * Describes a connected server as a `server.json`. Leaves out arguments, variables, headers and query strings, which
 * may contain secrets.
 */
export function describeConnected(scope: Scope, server: ConnectedServer): ServerJson {
  const manifest = findScriptManifest(server.entry);
  if (manifest?.mcpName !== undefined) return fromManifest(manifest);
  const { info, name } = server;
  const launched = readPackage(server.entry);
  const title = titleOf(server);
  return {
    $schema: SERVER_JSON_SCHEMA,
    name: `${scope.org}.${scope.project}/${name}`,
    ...(title === "" ? {} : { title: title.slice(0, 100) }),
    description: shorten(manifest?.description ?? `The MCP server ${title || name}, as configured here`),
    version: [launched?.version, info?.version].find(isExact) ?? "0.0.0",
    ...describeAccess(server, launched),
  };
}

function describeAccess(
  { entry }: ConnectedServer,
  launched: Package | undefined,
): Pick<ServerJson, "packages" | "remotes" | "_meta"> {
  if (launched !== undefined) return { packages: [launched] };
  if (entry.url !== undefined) return { remotes: [{ type: remoteType(entry), url: withoutSecrets(entry.url) }] };
  return { _meta: { [PUBLISHER_META]: { "dev.pml/command": basename(entry.command ?? "") } } };
}

function titleOf({ info }: ConnectedServer): string {
  return info?.title ?? info?.name ?? "";
}

function isExact(version: string | undefined): version is string {
  return version !== undefined && /^[\w.+-]{1,255}$/.test(version) && !/(^|\.)[x*](\.|$)|^latest$/i.test(version);
}

function remoteType({ type }: ConnectedServer["entry"]): "streamable-http" | "sse" {
  return type === "sse" ? "sse" : "streamable-http";
}

function withoutSecrets(url: string): string {
  if (!URL.canParse(url)) return "{url}";
  const { origin, pathname } = new URL(url);
  return origin + pathname;
}

function findScriptManifest({ command, args = [] }: ConnectedServer["entry"]): ReturnType<typeof findManifest> {
  if (command === undefined || !/^(node|bun|deno)(\.exe)?$/.test(basename(command))) return undefined;
  const script = args.find((each) => /\.[cm]?[jt]s$/.test(each));
  return script === undefined ? undefined : findManifest(script);
}

type Package = NonNullable<ServerJson["packages"]>[number];

/**
 * Package runners, which take the package as their first plain argument: `npx -y @scope/name@1.2.0`, `uvx
 * name==1.2.0`.
 */
const RUNNERS: Readonly<Record<string, string>> = { npx: "npm", bunx: "npm", uvx: "pypi" };

function readPackage({ command = "", args = [] }: ConnectedServer["entry"]): Package | undefined {
  const runner = basename(command).replace(/\.(cmd|exe)$/, "");
  const registryType = RUNNERS[runner];
  const wanted = args.find((each) => !each.startsWith("-"));
  const [, identifier, version] = /^(@?[^@=\s]+)(?:@|==)?(.*)$/.exec(wanted ?? "") ?? [];
  if (registryType === undefined || identifier === undefined) return undefined;
  return {
    registryType,
    identifier,
    ...(isExact(version) ? { version } : {}),
    runtimeHint: runner,
    transport: { type: "stdio" },
  };
}
