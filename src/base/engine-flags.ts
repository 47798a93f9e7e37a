import { setFlagsFromString } from "node:v8";

/**
 * Flags of V8 by kind of process, each given once when the process starts. V8 rejects cached code that was compiled under
 * other flags, so that all processes which share a compile cache have the same ones. Measurements:
 * docs/decisions/2026-11-18-engine-flags.md.
 */
export const ENGINE_FLAGS = {
  /** Every process of the command `pml`: daemon, shim, commands. */
  pml: [
    // The optimising compiler takes hundreds of MB for the database's WebAssembly and gains a few percent.
    "--no-wasm-tier-up",
    "--no-wasm-dynamic-tiering",
    // The loops of vector search ask for that compiler in their module.
    "--experimental-wasm-compilation-hints",
    // An idle thread collects its garbage itself (collect-garbage.ts); V8 would do so only when it needs room.
    "--expose-gc",
    // The space for new objects would grow to 64 MB and stay; collecting a small one takes one thread.
    "--semi-space-growth-factor=1",
    "--no-parallel-scavenge",
  ],
  /** Every child that runs programs. It needs little memory itself; programs have a limit of their own. */
  sandbox: ["--disallow-code-generation-from-strings", "--max-old-space-size=64"],
  /** Compiles all functions of the code that isolates share; otherwise each isolate compiles what it uses. */
  isolatedVm: ["--no-lazy"],
  withoutJit: ["--jitless"],
  /** In KB, of the 8 MB stack of a main thread; a step of QuickJS takes more native stack than its own. */
  quickJs: ["--stack-size=3000"],
} as const;

/** Sets the flags of a `pml` process. A child that runs programs gets its own on its command line. */
export function setEngineFlags(): void {
  setFlagsFromString(ENGINE_FLAGS.pml.join(" "));
}
