import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { PmlError } from "../base/errors.ts";

export type EngineName = "isolated-vm" | "quickjs";

/** What a child needs to run an engine. */
export interface EngineFiles {
  readonly name: EngineName;
  /** Files the child loads it from, in the order it expects them. */
  readonly files: readonly string[];
  /** What it must be allowed to read for that. */
  readonly readable: readonly string[];
}

const require = createRequire(import.meta.url);
/** Older ones let a program corrupt the memory of the process it runs in. */
const OLDEST_SAFE = [7, 0, 1] as const;

/** The engine that was asked for; with "auto" the best one this machine has. */
export function resolveEngine(wanted: EngineName | "auto"): EngineFiles {
  const found = wanted === "quickjs" ? undefined : findIsolatedVm();
  if (found !== undefined) return found;
  if (wanted !== "isolated-vm") return quickJs();
  throw new PmlError("sandbox_unavailable", `isolated-vm has no build for ${describeMachine()}`, {
    hint: 'Set "sandbox": {"engine": "quickjs"} in the configuration, or leave the key out',
  });
}

/** In words, for logs. */
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
  // Loaded by its path: the package's own search for it reads more than a child may.
  const addon = join(folder, `isolated-vm.abi${modules}${libc}.node`);
  return existsSync(addon) ? { name: "isolated-vm", files: [addon], readable: [addon] } : undefined;
}

function quickJs(): EngineFiles {
  const manifest = findManifest("quickjs-wasi");
  if (manifest === undefined) {
    throw new PmlError("sandbox_unavailable", "No engine to run programs with is installed", {
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
  throw new PmlError("sandbox_unavailable", `isolated-vm ${version} is installed, which programs can break out of`, {
    hint: `Install PML again, so that it has isolated-vm ${OLDEST_SAFE.join(".")}: npm install -g pml`,
  });
}

function findManifest(name: string): string | undefined {
  try {
    return require.resolve(`${name}/package.json`);
  } catch {
    return undefined; // it is optional, and not installed where it has no build
  }
}

function readVersion(manifest: string): string {
  return (JSON.parse(readFileSync(manifest, "utf8")) as { version: string }).version;
}

/** By the loader that this very process uses. */
function isMusl(): boolean {
  return readFileSync("/proc/self/maps", "utf8").includes("/ld-musl-");
}
