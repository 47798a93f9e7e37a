import type { Writable } from "node:stream";

/**
 * Writes, but lets what else is written in the same turn of the event loop go out with it: under load
 * most of the cost of a small message is the system call.
 */
export function writeTogether(stream: Writable, content: string | Uint8Array): boolean {
  if (stream.writableCorked === 0) {
    stream.cork();
    process.nextTick(() => stream.uncork());
  }
  return stream.write(content);
}
