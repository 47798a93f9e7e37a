const open = new Set<() => void>();

/**
 * Registers work that must be done however the run ends: at the end of the scope, or when the process exits,
 * interrupted or failed. It is synchronous, because nothing else runs while a process exits.
 */
export function registerCleanup(work: () => void): Disposable {
  open.add(work);
  return {
    [Symbol.dispose]() {
      if (open.delete(work)) work();
    },
  };
}

process.on("exit", () => {
  // Latest first: a child must end before its disk is unmounted.
  for (const work of [...open].toReversed()) {
    try {
      work();
    } catch (error) {
      console.error(`clean-up failed: ${String(error)}`);
    }
  }
});
