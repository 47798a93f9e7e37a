import { collectWhenIdle } from "../base/collect-garbage.ts";
import { fstatSync, rmSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import { type App, createApp } from "../app/app.ts";
import type { DaemonStatus } from "../contract/status.ts";
import type { Config } from "../config/load-config.ts";
import { acquireOwnership } from "../db/owner-lock.ts";
import { createDecisionKey, type DecisionKey, isSameSecret } from "../http/decision-key.ts";
import { createResourceServer } from "../auth/resource-server.ts";
import type { GuardSettings } from "../http/guard.ts";
import { type HttpServerOptions, startHttpServer } from "../http/http-server.ts";
import { assertMayListen, hostNames, localUrl } from "../http/listen-address.ts";
import { createMetrics } from "../http/metrics.ts";
import { createRoutes } from "../http/routes.ts";
import { countWaiting } from "../http/upstream-routes.ts";
import { createLogger, type Logger } from "../base/log.ts";
import { SHIM_SECRET_HEADER, STDIO_PATH, STDIO_UPGRADE } from "../mcp/transport/stdio-bridge.ts";
import { describeClients } from "../mcp/server/describe-clients.ts";
import { describeTools } from "../mcp/server/describe-tools.ts";
import { reportNames } from "../catalogue/name-report.ts";
import type { StdioConnections } from "../mcp/transport/stdio-connections.ts";
import { version } from "../base/package-info.ts";
import type { Secrets } from "../secrets/secrets.ts";
import {
  type DaemonInfo,
  daemonLogFile,
  ensureDecisionKey,
  ensureToken,
  removeDaemonInfo,
  writeDaemonInfo,
  writeShimSecret,
} from "./daemon-file.ts";
import { proveDaemon } from "./daemon-proof.ts";
import { openGateway } from "./open-gateway.ts";
import { openSecrets } from "../app/open-secrets.ts";
import { secureHome } from "./secure-home.ts";
import { watchConfig } from "./watch-config.ts";

export interface DaemonOptions {
  readonly config: Config;
  /** Reads the configuration again, from its original sources. */
  readonly reload: () => Config;
  /** Ends the daemon after `daemon.idleMinutes` without a client. */
  readonly exitWhenIdle: boolean;
  readonly onReady: (info: DaemonInfo) => void;
  /** Must end the process: the database died, so nothing can shut down in order. */
  readonly onLost: (error: Error) => void;
}

/** Owns a PML_HOME from acquiring the lock to releasing it. Resolves after a request to end. */
export async function runDaemon({ config, reload, exitWhenIdle, onReady, onLost }: DaemonOptions): Promise<void> {
  assertMayListen(config.http.host, config.auth !== undefined);
  secureHome(config.home); // first: the lock is one of its files
  using ownership = acquireOwnership(config.home);
  const { token, decisionKey, shimSecret, secrets } = openKeys(config);
  const log = openLog(config, secrets);
  const stop = Promise.withResolvers<string>();
  using _signals = stopOnSignals(stop.resolve);
  await using app = await openApp({ config, ownership, secrets, log });
  const onLimitReached = (key: string): void => metrics.limitReached(key);
  using opened = openGateway({ app, config, token, log, onLimitReached, url: () => info.url });
  const { gateway, shims, endpoint, count: countOpen } = opened;
  const activity = trackActivity(() => shims.count);
  const metrics = createMetrics({ events: app.events, countConnections: () => shims.count, countOpen });
  const { host, port } = config.http;
  const guard = createGuard({ config, token, log, onRefused: (reason) => metrics.authRefused(reason) });
  await using server = await startHttpServer({
    host,
    port,
    portChosen: config.portChosen,
    guard,
    decisionKey,
    routes: createRoutes({
      app,
      endpoint,
      resourceServer: guard.resourceServer,
      tools: () => describeTools(gateway),
      clients: () => describeClients(gateway, config.auth === undefined),
      metrics,
      decisionKey,
      prove: (nonce) => proveDaemon(shimSecret, info, nonce),
      uploads: emptyUploads(config.home),
      status: async () => ({ ...info, home: config.home, clients: shims.count, ...(await describeApp(app)) }),
      names: () => reportNames(gateway.surface),
      stop: () => stop.resolve("pml down"),
    }),
    upgrade: createUpgrade(shims, shimSecret),
    onFinished: (route, status, seconds) => {
      activity.touch();
      metrics.requestFinished(route, status, seconds);
    },
    log,
  });
  // Disposed first: the server would wait for their connections.
  await using _endpoint = endpoint;
  await using _shims = shims;
  const info: DaemonInfo = { pid: process.pid, version, url: localUrl(host, server.port) };
  for (const part of [app.logins, app.records]) part.listenAt(info.url);
  writeDaemonInfo(config.home, info);
  using _file = { [Symbol.dispose]: () => removeDaemonInfo(config.home) };
  using _idle = exitWhenIdle ? activity.onIdle(config.daemon.idleMinutes, () => stop.resolve("idle")) : undefined;
  void app.databaseLost.then((error) => onLost(error));
  const configureGateway = (changed: Config): void => gateway.configure(changed);
  await using _watch = watchConfig({ config, reload, app, configureGateway, log });
  log.info({ ...info, home: config.home }, "ready");
  onReady(info);
  app.upstreams.connectInBackground();
  using _collector = collectWhenIdle();
  log.info({ reason: await stop.promise }, "ending");
}

/** Logs to stderr as well in the foreground; in the background stderr is the log file itself. */
function logTarget({ log, home }: Config): { file: string; stderr: boolean } {
  if (log.file !== undefined) return { file: resolve(home, log.file), stderr: false };
  const file = daemonLogFile(home);
  return { file, stderr: fstatSync(2).ino !== statSync(file, { throwIfNoEntry: false })?.ino };
}

interface GuardOptions {
  readonly config: Config;
  readonly token: string;
  readonly log: Logger;
  readonly onRefused: (reason: string) => void;
}

function createGuard({ config, token, log, onRefused }: GuardOptions): GuardSettings {
  const { auth, http } = config;
  return {
    token,
    hosts: [...http.allowedHosts, ...hostNames(http.host)],
    resourceServer: auth && createResourceServer({ settings: auth, log, onRefused }),
  };
}

interface Keys {
  readonly token: string;
  readonly decisionKey: DecisionKey;
  readonly shimSecret: string;
  readonly secrets: Secrets;
}

/** The gateway's own keys, which are the first secrets it knows. */
function openKeys(config: Config): Keys {
  const token = ensureToken(config.home);
  const personsKey = ensureDecisionKey(config.home);
  const shimSecret = writeShimSecret(config.home);
  const secrets = openSecrets(config, token, personsKey, shimSecret);
  return { token, decisionKey: createDecisionKey(personsKey), shimSecret, secrets };
}

function openLog(config: Config, secrets: Secrets): Logger {
  const clean = (line: string): string => secrets.withoutKnown(line);
  const log = createLogger({ ...logTarget(config), level: config.log.level, secrets: [], clean });
  // Redirects warnings of libraries: on the console they would be neither JSON nor free of secrets.
  const warn = (...words: unknown[]): void => log.warn({ text: words.map(String).join(" ") }, "warning of a library");
  Object.assign(console, { warn });
  return log;
}

function emptyUploads(home: string): string {
  const folder = join(home, "uploads");
  rmSync(folder, { recursive: true, force: true });
  return folder;
}

function createUpgrade(shims: StdioConnections, shimSecret: string): HttpServerOptions["upgrade"] {
  return {
    path: STDIO_PATH,
    protocol: STDIO_UPGRADE,
    accept(socket, { headers }) {
      socket.write(`HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: ${STDIO_UPGRADE}\r\n\r\n`);
      const given = headers[SHIM_SECRET_HEADER];
      shims.accept(socket, typeof given === "string" && isSameSecret(given, shimSecret));
    },
  };
}

async function openApp(options: Parameters<typeof createApp>[0]): Promise<App> {
  const app = await createApp(options);
  const rules = await app.permissions.countDroppedRules(app.scope);
  if (rules > 0)
    options.log.warn({ rules }, "remembered rules that did not bind the exact text were dropped; programs ask again");
  return app;
}

async function describeApp(
  app: App,
): Promise<
  Pick<DaemonStatus, "uptimeSeconds" | "database" | "permissions" | "droppedRules" | "changedTools" | "loginsNeeded">
> {
  return {
    uptimeSeconds: Math.round(process.uptime()),
    database: await app.databaseStatus(),
    permissions: app.permissions.problem?.message ?? "ok",
    droppedRules: await app.permissions.countDroppedRules(app.scope),
    ...countWaiting(app),
  };
}

const STOP_SIGNALS = ["SIGTERM", "SIGINT", "SIGHUP"] as const;

/** The first signal shuts down in order, the second one at once. */
function stopOnSignals(stop: (reason: string) => void): Disposable {
  let asked = false;
  const onSignal = (signal: NodeJS.Signals): void => {
    if (asked) process.kill(process.pid, "SIGKILL");
    asked = true;
    stop(signal);
  };
  for (const signal of STOP_SIGNALS) process.on(signal, onSignal);
  return {
    [Symbol.dispose]() {
      for (const signal of STOP_SIGNALS) process.off(signal, onSignal);
    },
  };
}

const IDLE_CHECKS = 30;

function trackActivity(countConnections: () => number): {
  touch: () => void;
  onIdle: (minutes: number, act: () => void) => Disposable | undefined;
} {
  let last = Date.now();
  return {
    touch: () => void (last = Date.now()),
    onIdle(minutes, act) {
      if (minutes === 0) return undefined;
      const limit = minutes * 60_000;
      const timer = setInterval(() => {
        if (countConnections() > 0) last = Date.now();
        else if (Date.now() - last >= limit) act();
      }, limit / IDLE_CHECKS);
      return { [Symbol.dispose]: () => clearInterval(timer) };
    },
  };
}
