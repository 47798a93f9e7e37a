import type { Writable } from "node:stream";

/** What is written to a stream in a turn of the event loop. */
interface Turn {
  writes: number;
  /** Whether there was more than one in the last turn. */
  isBusy: boolean;
}

const turns = new WeakMap<Writable, Turn>();

/**
 * Writes, but lets what else is written soon go out with it: under load most of the cost of a small message is the
 * system call, and that the reader is woken for each. A single message waits for nothing but the work that is being
 * done; where there are several in a turn, they go out together at its end.
 */
export function writeTogether(stream: Writable, content: string | Uint8Array): boolean {
  const turn = turnOf(stream);
  if (stream.writableCorked === 0) {
    stream.cork();
    const goOn = (): void => stream.uncork();
    if (turn.isBusy || turn.writes > 0) setImmediate(goOn);
    else process.nextTick(goOn);
  }
  turn.writes += 1;
  if (turn.writes === 1) setImmediate(() => endTurn(turn));
  return stream.write(content);
}

function turnOf(stream: Writable): Turn {
  const known = turns.get(stream);
  if (known !== undefined) return known;
  const turn = { writes: 0, isBusy: false };
  turns.set(stream, turn);
  return turn;
}

function endTurn(turn: Turn): void {
  turn.isBusy = turn.writes > 1;
  turn.writes = 0;
}
