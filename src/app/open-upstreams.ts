import { environment, readSecretKey } from "../config/environment.ts";
import type { Config } from "../config/load-config.ts";
import { allServers } from "../config/project-config.ts";
import { resolveServers, type ServerDefinition } from "../config/mcp-servers.ts";
import { secretValues } from "../config/secrets.ts";
import type { DatabaseClient } from "../db/client.ts";
import type { Logger } from "../base/log.ts";
import { createSeal, type Seal } from "../secrets/seal.ts";
import { resolveSecretKey } from "../secrets/secret-key.ts";
import type { Secrets } from "../secrets/secrets.ts";
import { Logins } from "../upstream/oauth/logins.ts";
import { ProcessGroups } from "../upstream/connection/process-groups.ts";
import { serverLogFolder } from "../upstream/connection/server-output.ts";
import { Upstreams } from "../upstream/upstreams.ts";

interface UpstreamParts {
  readonly client: DatabaseClient;
  readonly logins: Logins;
  readonly secrets: Secrets;
  readonly log: Logger;
}

export async function openUpstreams(
  config: Config,
  { client, logins, secrets, log }: UpstreamParts,
): Promise<Upstreams> {
  const { connectSeconds, callSeconds, longestCallSeconds, maxInFlight, maxQueued, maxMessageBytes } = config.upstream;
  const limits = {
    connectMs: connectSeconds * 1000,
    callMs: callSeconds * 1000,
    longestCallMs: longestCallSeconds * 1000,
    inFlight: maxInFlight,
    queued: maxQueued,
    messageBytes: maxMessageBytes,
  };
  const groups = new ProcessGroups(config.home, log);
  groups.endOrphans();
  const { changedTools } = config.upstream;
  const upstreams = new Upstreams({
    db: client.db,
    scope: config.scope,
    limits,
    changedTools,
    logins,
    groups,
    log,
    logFolder: serverLogFolder(config.home),
    secrets,
  });
  await upstreams.configure(definedServers(config, secrets));
  return upstreams;
}

export function createLogins(
  config: Config,
  { db, engine }: DatabaseClient,
  { secrets, log }: Pick<UpstreamParts, "secrets" | "log">,
): Logins {
  let seal: Seal | undefined;
  const sources = {
    value: readSecretKey(),
    file: config.secrets.keyFile,
    home: config.home,
    shared: engine === "postgres",
  };
  const getSeal = (): Seal => (seal ??= createSeal(resolveSecretKey(sources)));
  const { clientMetadataUrl, redirectUrl } = config.upstream;
  return new Logins({ db, scope: config.scope, getSeal, secrets, clientMetadataUrl, redirectUrl, log });
}

/** Resolves the configured servers; the secrets among their settings are known from then on. */
export function definedServers(config: Config, secrets: Secrets): ServerDefinition[] {
  const servers = resolveServers(allServers(config), environment);
  for (const server of servers) {
    if (server.state === "usable") secrets.know(`server ${server.name}`, secretValues(server.entry));
  }
  return servers;
}
