import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { PmlError } from "../base/errors.ts";

export type EngineName = "isolated-vm" | "quickjs";

/** The files a child needs to run an engine. */
export interface EngineFiles {
  readonly name: EngineName;
  /** Files the child loads the engine from, in the order of its arguments. */
  readonly files: readonly string[];
  /** Files and folders the child must be allowed to read. */
  readonly readable: readonly string[];
}

const require = createRequire(import.meta.url);
/** Older versions let a program corrupt the memory of its process. */
const OLDEST_SAFE = [7, 0, 1] as const;

/** Returns the requested engine, or with "auto" the best one for this machine. */
export function resolveEngine(wanted: EngineName | "auto"): EngineFiles {
  const found = wanted === "quickjs" ? undefined : findIsolatedVm();
  if (found !== undefined) return found;
  if (wanted !== "isolated-vm") return quickJs();
  throw new PmlError("sandbox_unavailable", `isolated-vm has no build for ${describeMachine()}`, {
    hint: 'Set "sandbox": {"engine": "quickjs"} in the configuration, or leave the key out',
  });
}

/** Describes the machine for logs. */
export function describeMachine(): string {
  return `Node ${process.versions.node} on ${process.platform}-${process.arch}`;
}

function findIsolatedVm(): EngineFiles | undefined {
  const manifest = findManifest("isolated-vm");
  if (manifest === undefined) return undefined;
  refuseUnsafe(readVersion(manifest));
  const { modules } = process.versions;
  const libc = process.platform === "linux" ? (isMusl() ? ".musl" : ".glibc") : "";
  const folder = join(dirname(manifest), "prebuilds", `${process.platform}-${process.arch}`);
  // Loads the addon by its path: the package's own lookup reads more files than a child may.
  const addon = join(folder, `isolated-vm.abi${modules}${libc}.node`);
  return existsSync(addon) ? { name: "isolated-vm", files: [addon], readable: [addon] } : undefined;
}

function quickJs(): EngineFiles {
  const manifest = findManifest("quickjs-wasi");
  if (manifest === undefined) {
    throw new PmlError("sandbox_unavailable", "No engine for programs is installed", {
      hint: "Install PML again with all its dependencies: npm install -g pml",
    });
  }
  const folder = dirname(manifest);
  const files = [join(folder, "dist", "index.js"), join(folder, "quickjs.wasm")];
  return { name: "quickjs", files, readable: [join(folder, "*")] };
}

export function refuseUnsafe(version: string): void {
  const parts = version.split(".").map(Number);
  const difference = OLDEST_SAFE.map((part, at) => (parts[at] ?? 0) - part).find((each) => each !== 0) ?? 0;
  if (difference >= 0) return;
  throw new PmlError("sandbox_unavailable", `isolated-vm ${version} has a known sandbox escape`, {
    hint: `Install PML again, so that it has isolated-vm ${OLDEST_SAFE.join(".")}: npm install -g pml`,
  });
}

function findManifest(name: string): string | undefined {
  try {
    return require.resolve(`${name}/package.json`);
  } catch {
    return undefined; // an optional dependency, not installed where it has no build
  }
}

function readVersion(manifest: string): string {
  return (JSON.parse(readFileSync(manifest, "utf8")) as { version: string }).version;
}

/** Checks which loader this process uses. */
function isMusl(): boolean {
  return readFileSync("/proc/self/maps", "utf8").includes("/ld-musl-");
}
