/** Limits of a message of others, before it is parsed. */
export interface MessageLimits {
  readonly maxBytes: number;
  /** Values in the whole message; by default `MOST_MESSAGE_VALUES`. */
  readonly maxValues?: number;
}

/** Values of one message: each costs time in every later step, so that more would hold up all other clients. */
const MOST_MESSAGE_VALUES = 250_000;
/** Far more than any tool needs; a few thousand levels overflow the stack of recursive code. */
const DEEPEST_MESSAGE = 500;

export type MessageExcess = "bytes" | "values" | "depth";

const OTHER = 0;
const QUOTE = 1;
const BACKSLASH = 2;
const LINE_FEED = 3;
const COMMA = 4;
const OPENING = 5;
const CLOSING = 6;

/** The meaning of each byte; those of longer characters have none. */
const KINDS = new Uint8Array(256);
for (const [text, kind] of Object.entries({
  '"': QUOTE,
  "\\": BACKSLASH,
  "\n": LINE_FEED,
  ",": COMMA,
  "[": OPENING,
  "{": OPENING,
  "]": CLOSING,
  "}": CLOSING,
}))
  KINDS[text.charCodeAt(0)] = kind;

/**
 * Measures JSON without parsing it, in the pieces in which it arrives. A line feed ends a string, since JSON has none in
 * strings. In a stream of events an empty line ends a message.
 */
export class MessageScan {
  readonly #limits: MessageLimits;
  readonly #events: boolean;
  #bytes = 0;
  #values = 0;
  #depth = 0;
  #quoted = false;
  /** Bytes of the current line so far. */
  #lineBytes = 0;
  /** The next byte belongs to an escape that the last piece began. */
  #escaped = false;

  constructor(limits: MessageLimits, { events = false } = {}) {
    this.#limits = limits;
    this.#events = events;
  }

  /** Returns the limit that the message exceeds. */
  push(piece: Uint8Array): MessageExcess | undefined {
    this.#bytes += piece.length;
    let lineStart = -this.#lineBytes;
    let at = this.#escaped ? 1 : 0;
    for (; at < piece.length; at += 1) {
      const kind = KINDS[piece[at] ?? 0];
      if (kind === OTHER) continue;
      if (kind === LINE_FEED) {
        this.#endLine(at - lineStart, piece.length - at);
        lineStart = at + 1;
      } else if (this.#quoted) {
        if (kind === BACKSLASH) at += 1;
        else if (kind === QUOTE) this.#quoted = false;
      } else this.#count(kind);
      if (this.#depth > DEEPEST_MESSAGE) return "depth";
    }
    this.#escaped = at > piece.length;
    this.#lineBytes = piece.length - lineStart;
    return this.#findExcess();
  }

  #findExcess(): MessageExcess | undefined {
    if (this.#bytes > this.#limits.maxBytes) return "bytes";
    return this.#values > (this.#limits.maxValues ?? MOST_MESSAGE_VALUES) ? "values" : undefined;
  }

  #count(kind: number | undefined): void {
    if (kind === QUOTE) this.#quoted = true;
    else if (kind === CLOSING) this.#depth -= 1;
    else if (kind === COMMA || kind === OPENING) this.#values += 1;
    if (kind === OPENING) this.#depth += 1;
  }

  #endLine(length: number, left: number): void {
    this.#quoted = false;
    if (!this.#events || length > 1) return; // a carriage return may stand on an empty line
    this.#bytes = left;
    this.#values = 0;
    this.#depth = 0;
  }
}

/** Each level takes two bytes, so that a shorter text needs no scan. */
const SHORTEST_SCANNED = 2 * DEEPEST_MESSAGE;

/** Describes the limit that a whole message exceeds; its size was checked as it arrived. */
export function findExcess(text: string): string | undefined {
  if (text.length <= SHORTEST_SCANNED) return undefined;
  const excess = new MessageScan({ maxBytes: Infinity }).push(Buffer.from(text));
  return excess === undefined ? undefined : describeExcess(excess, "");
}

export function describeExcess(excess: MessageExcess, maxBytes: string): string {
  switch (excess) {
    case "depth":
      return `is nested more than ${DEEPEST_MESSAGE} levels deep`;
    case "values":
      return `has more than ${MOST_MESSAGE_VALUES} values`;
    case "bytes":
    default:
      return `has more than ${maxBytes}`;
  }
}

const ID = /"id":\s*("[^"\\]{0,100}"|-?\d{1,20})\s*[,}]/;
const ID_DISTANCE = 300;

/** Finds the id of a message that is not parsed, near its start or its end; null if it has none there. */
export function findId(text: string): string | number | null {
  const found = ID.exec(text.slice(0, ID_DISTANCE)) ?? ID.exec(text.slice(-ID_DISTANCE));
  return found?.[1] === undefined ? null : (JSON.parse(found[1]) as string | number);
}
