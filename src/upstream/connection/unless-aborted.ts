/** Stops waiting on abort for a promise that others wait for too, without cancelling it. */
export async function unlessAborted<T>(event: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return event;
  const aborted = Promise.withResolvers<never>();
  const abort = (): void => aborted.reject(new Error("aborted"));
  signal.addEventListener("abort", abort, { once: true });
  if (signal.aborted) abort();
  try {
    return await Promise.race([event, aborted.promise]);
  } finally {
    signal.removeEventListener("abort", abort);
  }
}
