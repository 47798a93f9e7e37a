import { readFileSync } from "node:fs";

const [QUOTE, BACKSLASH, ZERO, NINE] = [0x22, 0x5c, 0x30, 0x39] as const;
const SLOTS = 65_536;
/** A load factor of one half finds a piece within a probe or two. */
const MAX_PIECES = SLOTS / 2;

export interface FoundPiece {
  readonly id: number;
  /** End offset in the searched bytes. */
  readonly end: number;
}

/**
 * A vocabulary as a hash table over bytes. It takes half a megabyte; a `Map` of as many strings takes ten times that,
 * in each of two threads.
 */
export class PieceTable {
  readonly #bytes: Uint8Array;
  /** Start of each piece, and the end of the last. */
  readonly #starts: Uint32Array;
  /** Piece ids plus 1; 0 marks a free slot. */
  readonly #slots = new Uint16Array(SLOTS);
  readonly #longest: number;

  /** `mostBytes` is an upper bound for the size of all pieces together. */
  constructor(pieces: Iterable<Uint8Array>, mostBytes: number) {
    const bytes = new Uint8Array(mostBytes);
    const starts = new Uint32Array(MAX_PIECES + 1);
    let [count, end, longest] = [0, 0, 0];
    for (const piece of pieces) {
      if (count === MAX_PIECES) throw new RangeError(`more than ${MAX_PIECES} pieces`);
      bytes.set(piece, end);
      end += piece.length;
      starts[(count += 1)] = end;
      longest = Math.max(longest, piece.length);
    }
    this.#bytes = bytes.slice(0, end);
    this.#starts = starts.slice(0, count + 1);
    this.#longest = longest;
    for (let id = 0; id < count; id += 1) this.#enter(id);
  }

  /** Finds the longest piece with more than `moreThan` bytes that is a prefix of the bytes from `start` to `end`. */
  findLongest(bytes: Uint8Array, start: number, end: number, moreThan = 0): FoundPiece | undefined {
    const last = Math.min(end, start + this.#longest);
    const hashes: number[] = [];
    for (let at = start, hash = 0; at < last; at += 1) hashes.push((hash = addToHash(hash, bytes[at] as number)));
    for (let to = last; to > start + moreThan; to -= 1) {
      const id = this.#find({ bytes, start, end: to, hash: hashes[to - start - 1] as number });
      if (id !== undefined) return { id, end: to };
    }
    return undefined;
  }

  #enter(id: number): void {
    const piece = this.#bytes.subarray(this.#starts[id], this.#starts[id + 1]);
    let slot = slotOf(piece.reduce(addToHash, 0));
    while (this.#slots[slot] !== 0) slot = (slot + 1) % SLOTS;
    this.#slots[slot] = id + 1;
  }

  #find(wanted: PieceKey): number | undefined {
    for (let slot = slotOf(wanted.hash); ; slot = (slot + 1) % SLOTS) {
      const number = this.#slots[slot] as number;
      if (number === 0) return undefined;
      if (this.#is(number - 1, wanted)) return number - 1;
    }
  }

  #is(id: number, { bytes, start, end }: PieceKey): boolean {
    const first = this.#starts[id] as number;
    if ((this.#starts[id + 1] as number) - first !== end - start) return false;
    for (let at = start; at < end; at += 1) if (this.#bytes[first + at - start] !== bytes[at]) return false;
    return true;
  }
}

/** Bytes to look up. */
interface PieceKey {
  readonly bytes: Uint8Array;
  readonly start: number;
  readonly end: number;
  readonly hash: number;
}

function addToHash(hash: number, byte: number): number {
  return Math.imul(hash ^ byte, 0x01000193) + 0x9e3779b9;
}

function slotOf(hash: number): number {
  return (hash ^ (hash >>> 15)) & (SLOTS - 1);
}

/**
 * Reads the vocabulary from a `tokenizer.json` that lists pieces in order of their ids. Scans the bytes: as an object
 * with 30,000 keys it would stay on the thread's heap until a full collection.
 */
export function readPieceTable(path: string): PieceTable {
  const file = readFileSync(path);
  const opening = '"vocab":{';
  const start = file.indexOf(opening);
  if (start < 0) throw new Error(`${path} has no vocabulary`);
  return new PieceTable(piecesFrom(file, start + opening.length), file.length);
}

function* piecesFrom(file: Buffer, start: number): Generator<Uint8Array> {
  let at = start;
  while (file[at] === QUOTE) {
    const end = endOfText(file, at);
    const piece = file.subarray(at + 1, end);
    yield piece.includes(BACKSLASH) ? Buffer.from(JSON.parse(file.toString("utf8", at, end + 1)) as string) : piece;
    at = end + 2; // skips the colon
    while (isDigit(file[at])) at += 1;
    at += 1; // skips the comma
  }
}

/** Index of the closing quote. */
function endOfText(file: Uint8Array, start: number): number {
  let at = start + 1;
  while (at < file.length && file[at] !== QUOTE) at += file[at] === BACKSLASH ? 2 : 1;
  return at;
}

function isDigit(byte = 0): boolean {
  return byte >= ZERO && byte <= NINE;
}
