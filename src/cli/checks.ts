import { createServer } from "node:net";
import { accessSync, chmodSync, constants, existsSync, mkdirSync, statfsSync, statSync } from "node:fs";
import { join } from "node:path";
import { withServerDatabase } from "../app/server-database.ts";
import { environment, resolveHome } from "../config/environment.ts";
import { type Config, loadConfig } from "../config/load-config.ts";
import { callDaemon } from "../daemon/daemon-client.ts";
import { type DaemonAddress, readDaemonAddress, removeDaemonInfo } from "../daemon/daemon-file.ts";
import { findDaemon } from "../daemon/start-daemon.ts";
import { dataDirectory } from "../db/open-embedded.ts";
import { describeUrl } from "../db/open-postgres.ts";
import { ENGINE_MAJOR, findEngineMajor, templatePath } from "../db/template.ts";
import { backupDirectory, listBackups } from "../housekeeping/write-backup.ts";
import { version } from "../base/package-info.ts";
import { PERMISSIONS_FILE } from "../config/project-file.ts";
import { describeUntrusted, findUntrusted } from "../config/untrusted-files.ts";
import { permissionsFiles, readRules } from "../permissions/read-rules.ts";
import { describePortOwner } from "../base/port-owner.ts";
import { secretKeyFile } from "../secrets/secret-key.ts";
import { checkClients } from "./client-checks.ts";
import { routes } from "../contract/routes.ts";
import { type Finding, fromError } from "./finding.ts";
import { checkServers } from "./server-checks.ts";

/** Runs all checks in order, each independent of the others. */
export async function runChecks(configFlag: string | undefined): Promise<Finding[]> {
  const home = resolveHome();
  const { config, finding } = checkConfig(configFlag);
  const daemon = await findDaemon(home);
  return [
    checkVersion(),
    finding,
    ...(config === undefined ? [] : [checkPermissions(config), ...checkProjects(config, configFlag)]),
    checkHome(home),
    ...checkSecretFiles(home, config),
    await checkDataDirectory(home),
    ...(daemon === undefined ? [] : [await checkDatabase(daemon)]),
    ...(config?.database.url === undefined ? [] : [await checkServerDatabase(config.database.url)]),
    await checkBackups(home),
    checkDaemon(home, daemon),
    ...(config === undefined || daemon !== undefined ? [] : [await checkPort(config)]),
    ...(config === undefined ? [] : await checkServers(config, daemon)),
    ...checkClients(configFlag),
  ];
}

function checkVersion(): Finding {
  return { check: "version", state: "ok", value: `PML ${version}, Node ${process.versions.node}` };
}

function checkConfig(flag: string | undefined): { config: Config | undefined; finding: Finding } {
  try {
    const config = loadConfig(flag === undefined ? {} : { config: flag }, environment);
    return { config, finding: { check: "config", state: "ok", value: config.file ?? "defaults, no file" } };
  } catch (error) {
    return { config: undefined, finding: fromError("config", error) };
  }
}

function checkPermissions(config: Config): Finding {
  const check = "permissions";
  const rules = readRules(config);
  if (rules.kind === "broken") {
    const { message, hint } = rules.error;
    return { check, state: "failure", value: message, ...(hint === undefined ? {} : { fix: hint }) };
  }
  const files = permissionsFiles(config).filter((file) => existsSync(file));
  return { check, state: "ok", value: files.length === 0 ? `no ${PERMISSIONS_FILE}` : files.join(", ") };
}

/** Names the project files in use, and those that are not read. */
function checkProjects({ projects }: Config, flag: string | undefined): Finding[] {
  const check = "project file";
  const used = projects.filter(({ state }) => state === "trusted");
  return [
    ...used.map(({ path }): Finding => ({ check, state: "ok", value: `${path} is trusted` })),
    ...findUntrusted(process.cwd(), flag, environment).map((file): Finding => ({
      check,
      state: "warning",
      value: describeUntrusted(file),
    })),
  ];
}

const LOW_SPACE_BYTES = 500 * 1024 * 1024;

function checkHome(home: string): Finding {
  const check = "home";
  if (!existsSync(home)) {
    return {
      check,
      state: "warning",
      value: `${home} does not exist yet`,
      fix: "It is created at the first start: pml up",
      repair: () => mkdirSync(home, { recursive: true, mode: 0o700 }),
    };
  }
  try {
    accessSync(home, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch {
    return { check, state: "failure", value: `${home} cannot be written`, fix: `Give yourself access: ls -ld ${home}` };
  }
  const { bavail, bsize } = statfsSync(home);
  const free = bavail * bsize;
  const value = `${home}, ${Math.round(free / 1024 ** 2)} MB free`;
  if (free >= LOW_SPACE_BYTES) return { check, state: "ok", value };
  return { check, state: "warning", value, fix: "Free some space: PML stops accepting writes when the disk is full" };
}

/** Finds files with secrets that other users can read. */
function checkSecretFiles(home: string, config: Config | undefined): Finding[] {
  const named = [config?.file, config?.secrets.keyFile].filter((file) => file !== undefined);
  const files = [
    join(home, "token"),
    join(home, "decision-key"),
    join(home, "shim-secret"),
    secretKeyFile(home),
    ...named,
  ];
  return files
    .filter((file) => ((statSync(file, { throwIfNoEntry: false })?.mode ?? 0) & 0o007) !== 0)
    .map((file) => ({
      check: "secrets",
      state: "warning",
      value: `${file} can be read by every user of this machine`,
      fix: `chmod o-rwx ${file}`,
      repair: () => chmodSync(file, statSync(file).mode & 0o770),
    }));
}

async function checkDataDirectory(home: string): Promise<Finding> {
  const check = "storage";
  const directory = dataDirectory(home);
  try {
    const engine = await findEngineMajor(directory);
    if (engine === ENGINE_MAJOR) return { check, state: "ok", value: `${directory}, engine ${engine}` };
    if (engine === undefined) return emptyStorage(directory);
    return {
      check,
      state: "failure",
      value: `${directory} was written by engine ${engine}, this PML has ${ENGINE_MAJOR}`,
      fix: "Export it with the PML that wrote it, then import: pml export -o memory.pml; pml import memory.pml",
    };
  } catch (error) {
    return fromError(check, error);
  }
}

function emptyStorage(directory: string): Finding {
  const check = "storage";
  if (existsSync(templatePath())) return { check, state: "ok", value: `${directory} is created at the first start` };
  return {
    check,
    state: "warning",
    value: "the prepared database is missing, so the first start takes longer",
    fix: "In a checkout: npm run build",
  };
}

async function checkBackups(home: string): Promise<Finding> {
  const newest = (await listBackups(backupDirectory(home))).at(-1);
  if (newest !== undefined) return { check: "backup", state: "ok", value: newest };
  return { check: "backup", state: "ok", value: "none yet; one is made every night, or now with: pml backup" };
}

async function checkDatabase(daemon: DaemonAddress): Promise<Finding> {
  const check = "database";
  try {
    const { database } = await callDaemon(daemon, routes.getStatus);
    const { engine, at, schemaVersion } = database;
    return { check, state: "ok", value: `${engine} at ${at} answers, schema ${schemaVersion}` };
  } catch (error) {
    return fromError(check, error);
  }
}

async function checkPort({ http: { host, port }, portChosen }: Config): Promise<Finding> {
  const check = "port";
  if (port === 0) return { check, state: "ok", value: "any free one" };
  if (await canListen(host, port)) return { check, state: "ok", value: `${port} is free` };
  const value = `${port} is taken by ${describePortOwner(port) ?? "another process"}`;
  if (portChosen) return { check, state: "failure", value, fix: "Stop that process, or set another one: http.port" };
  return { check, state: "warning", value, fix: "PML takes the next free one; to choose one set http.port" };
}

function canListen(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", () => resolve(false));
    server.listen(port, host, () => server.close(() => resolve(true)));
  });
}

function checkDaemon(home: string, daemon: DaemonAddress | undefined): Finding {
  const check = "daemon";
  if (daemon === undefined) return deadDaemon(home);
  const value = `${daemon.url}, pid ${daemon.pid}, version ${daemon.version}`;
  if (daemon.version === version) return { check, state: "ok", value };
  return {
    check,
    state: "warning",
    value: `${value}; this command is ${version}`,
    fix: "Restart it: pml down && pml up",
  };
}

function deadDaemon(home: string): Finding {
  const check = "daemon";
  if (readDaemonAddress(home) === undefined) return { check, state: "ok", value: "not running; start it with: pml up" };
  return {
    check,
    state: "warning",
    value: `${join(home, "daemon.json")} is left over from a daemon that was killed`,
    fix: "Start it again: pml up",
    repair: () => removeDaemonInfo(home),
  };
}

async function checkServerDatabase(url: string): Promise<Finding> {
  try {
    await withServerDatabase(url, async () => undefined);
    return { check: "postgres", state: "ok", value: describeUrl(url) };
  } catch (error) {
    return fromError("postgres", error);
  }
}
