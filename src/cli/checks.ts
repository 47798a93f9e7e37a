import { accessSync, chmodSync, constants, existsSync, mkdirSync, statfsSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { withServerDatabase } from "../app.ts";
import { environment, resolveHome } from "../config/environment.ts";
import { type Config, loadConfig } from "../config/load-config.ts";
import { resolveServers } from "../config/mcp-servers.ts";
import { readDaemonAddress, removeDaemonInfo } from "../daemon/daemon-file.ts";
import { findDaemon } from "../daemon/start-daemon.ts";
import { dataDirectory } from "../db/open-embedded.ts";
import { describeUrl } from "../db/open-postgres.ts";
import { ENGINE_MAJOR, findEngineMajor, templatePath } from "../db/template.ts";
import { PmlError } from "../errors.ts";
import { backupDirectory, listBackups } from "../housekeeping/backup.ts";
import { version } from "../package-info.ts";
import { secretKeyFile } from "../secrets/secret-key.ts";

export interface Finding {
  readonly check: string;
  readonly state: "ok" | "warning" | "failure";
  readonly value: string;
  readonly fix?: string;
  /** What --fix does about it; only what is safe and can be undone. */
  readonly repair?: () => void;
}

/** All checks in order. Each finds something to say, whatever the others found. */
export async function runChecks(configFlag: string | undefined): Promise<Finding[]> {
  const home = resolveHome();
  const { config, finding } = checkConfig(configFlag);
  return [
    checkNode(),
    finding,
    checkHome(home),
    ...checkSecretFiles(home, config),
    await checkDataDirectory(home),
    await checkBackups(home),
    await checkDaemon(home),
    ...(config?.database.url === undefined ? [] : [await checkServerDatabase(config.database.url)]),
    ...(config === undefined ? [] : checkServers(config)),
  ];
}

function checkNode(): Finding {
  return { check: "node", state: "ok", value: process.versions.node };
}

function checkConfig(flag: string | undefined): { config: Config | undefined; finding: Finding } {
  try {
    const config = loadConfig(flag === undefined ? {} : { config: flag }, environment);
    return { config, finding: { check: "config", state: "ok", value: config.file ?? "defaults, no file" } };
  } catch (error) {
    return { config: undefined, finding: fromError("config", error) };
  }
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

/** Files that hold a secret, or may, must not be readable by other users. */
function checkSecretFiles(home: string, config: Config | undefined): Finding[] {
  const named = [config?.file, config?.secrets.keyFile].filter((file) => file !== undefined);
  const files = [join(home, "token"), secretKeyFile(home), ...named];
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

async function checkDaemon(home: string): Promise<Finding> {
  const check = "daemon";
  const daemon = await findDaemon(home);
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

function checkServers({ mcpServers, file }: Config): Finding[] {
  return resolveServers(mcpServers ?? {}, environment).map((server) => {
    const check = `server ${server.name}`;
    if (server.state !== "unusable") return { check, state: "ok", value: server.state };
    const where = file === undefined ? "the configuration" : dirname(file);
    return {
      check,
      state: "failure",
      value: server.reason,
      fix: `Set it where PML is started, or give a default in ${where}: \${NAME:-value}`,
    };
  });
}

function fromError(check: string, error: unknown): Finding {
  const message = error instanceof Error ? error.message : String(error);
  const fix = error instanceof PmlError ? error.hint : undefined;
  return { check, state: "failure", value: message, ...(fix === undefined ? {} : { fix }) };
}
