import { fstatSync, rmSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import type { Duplex } from "node:stream";
import { createApp } from "../app.ts";
import type { Config } from "../config/load-config.ts";
import { acquireOwnership } from "../db/owner-lock.ts";
import { createResourceServer } from "../auth/resource-server.ts";
import type { GuardSettings } from "../http/guard.ts";
import { startHttpServer } from "../http/http-server.ts";
import { assertMayListen, hostNames, localUrl } from "../http/listen-address.ts";
import { createMetrics } from "../http/metrics.ts";
import { createRoutes } from "../http/routes.ts";
import { createLogger, type Logger } from "../log.ts";
import { STDIO_UPGRADE } from "../mcp/stdio-bridge.ts";
import { Gateway } from "../mcp/gateway.ts";
import { reportNames } from "../mcp/name-report.ts";
import type { StdioConnections } from "../mcp/stdio-connections.ts";
import { version } from "../package-info.ts";
import { type DaemonInfo, daemonLogFile, ensureToken, removeDaemonInfo, writeDaemonInfo } from "./daemon-file.ts";
import { createMcpEdge } from "./mcp-edge.ts";
import { watchConfig } from "./watch-config.ts";

export interface DaemonOptions {
  readonly config: Config;
  /** Reads the configuration again, from where it came. */
  readonly reload: () => Config;
  /** End after `daemon.idleMinutes` without a client. */
  readonly exitWhenIdle: boolean;
  readonly onReady: (info: DaemonInfo) => void;
  /** The database died: there is nothing left to end in order, so this must end the process. */
  readonly onLost: (error: Error) => void;
}

/** The owner of a PML_HOME, from taking the lock to letting it go. Resolves when it was asked to end. */
export async function runDaemon({ config, reload, exitWhenIdle, onReady, onLost }: DaemonOptions): Promise<void> {
  assertMayListen(config.http.host, config.auth !== undefined);
  using ownership = acquireOwnership(config.home);
  const token = ensureToken(config.home);
  const log = createLogger({ ...logTarget(config), level: config.log.level, secrets: knownSecrets(config, token) });
  const stop = Promise.withResolvers<string>();
  using _signals = stopOnSignals(stop.resolve);
  await using app = await createApp({ config, ownership, log });
  using gateway = new Gateway({ upstreams: app.upstreams, usage: app.usage, settings: config.gateway });
  const onLimitReached = (key: string): void => metrics.limitReached(key);
  using edge = createMcpEdge({ gateway, config, token, log, onLimitReached });
  const { shims, endpoint } = edge;
  const activity = trackActivity(() => shims.count);
  const countOpen = edge.count;
  const metrics = createMetrics({ events: app.events, countConnections: () => shims.count, countOpen });
  const started = Date.now();
  const { host, port } = config.http;
  const guard = createGuard({ config, token, log, onRefused: (reason) => metrics.authRefused(reason) });
  await using server = await startHttpServer({
    host,
    port,
    portChosen: config.portChosen,
    guard,
    routes: createRoutes({
      app,
      endpoint,
      resourceServer: guard.resourceServer,
      metrics,
      uploads: emptyUploads(config.home),
      status: async () => ({
        ...info,
        home: config.home,
        uptimeSeconds: Math.round((Date.now() - started) / 1000),
        clients: shims.count,
        database: await app.databaseStatus(),
      }),
      names: () => reportNames(gateway.surface),
      stop: () => stop.resolve("pml down"),
    }),
    onUpgrade: (upgrade, socket) => acceptShim(upgrade, socket, shims),
    onFinished: (route, status, seconds) => {
      activity.touch();
      metrics.requestFinished(route, status, seconds);
    },
    log,
  });
  // ended first, or the server would wait for them
  await using _endpoint = endpoint;
  await using _shims = shims;
  const info: DaemonInfo = { pid: process.pid, version, url: localUrl(host, server.port) };
  writeDaemonInfo(config.home, info);
  using _file = { [Symbol.dispose]: () => removeDaemonInfo(config.home) };
  using _idle = exitWhenIdle ? activity.onIdle(config.daemon.idleMinutes, () => stop.resolve("idle")) : undefined;
  void app.databaseLost.then((error) => onLost(error));
  await using _watch = watchConfig({ config, reload, apply: (changed) => app.configureServers(changed), log });
  log.info({ ...info, home: config.home }, "ready");
  onReady(info);
  app.upstreams.connectInBackground();
  log.info({ reason: await stop.promise }, "ending");
}

/** In the foreground somebody may watch stderr; in the background that is the log file itself. */
function logTarget({ log, home }: Config): { file: string; stderr: boolean } {
  if (log.file !== undefined) return { file: resolve(log.file), stderr: false };
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

function emptyUploads(home: string): string {
  const folder = join(home, "uploads");
  rmSync(folder, { recursive: true, force: true });
  return folder;
}

function acceptShim(upgrade: string, socket: Duplex, shims: StdioConnections): void {
  if (upgrade === STDIO_UPGRADE) {
    socket.write(`HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: ${STDIO_UPGRADE}\r\n\r\n`);
    shims.accept(socket);
  } else socket.end("HTTP/1.1 400 Unknown upgrade\r\nConnection: close\r\n\r\n");
}

function knownSecrets(config: Config, token: string): string[] {
  return config.database.url === undefined ? [token] : [token, config.database.url];
}

const STOP_SIGNALS = ["SIGTERM", "SIGINT", "SIGHUP"] as const;

/** The first signal asks for a clean end; a second one means now. */
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
