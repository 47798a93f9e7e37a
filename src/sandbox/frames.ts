export interface Frame {
  readonly type: string;
  readonly text: string;
}

const LENGTH_BYTES = 4;
/** Larger than every limit on a guest's messages; a larger frame is an attack. */
const MAX_FRAME = 16 * 1024 * 1024;

export function encodeFrame(type: string, text: string): Buffer {
  const length = Buffer.byteLength(text) + 1;
  const frame = Buffer.allocUnsafe(LENGTH_BYTES + length);
  frame.writeUInt32LE(length, 0);
  frame.write(type, LENGTH_BYTES, "latin1");
  frame.write(text, LENGTH_BYTES + 1);
  return frame;
}

/** Splits the output of a child into frames. */
export class FrameReader {
  #parts: Buffer[] = [];
  #bytes = 0;
  /** Bytes needed before the next split. */
  #needed = LENGTH_BYTES;

  /** Returns the frames that this chunk completes; throws on an impossible length. */
  push(chunk: Buffer): Frame[] {
    this.#parts.push(chunk);
    this.#bytes += chunk.length;
    if (this.#bytes < this.#needed) return [];
    const received = this.#parts.length === 1 ? chunk : Buffer.concat(this.#parts);
    const frames: Frame[] = [];
    let start = 0;
    for (;;) {
      this.#needed = readNeeded(received, start);
      if (received.length - start < this.#needed) break;
      frames.push(decode(received.subarray(start + LENGTH_BYTES, start + this.#needed)));
      start += this.#needed;
    }
    this.#parts = start === received.length ? [] : [received.subarray(start)];
    this.#bytes = received.length - start;
    return frames;
  }
}

/** Returns the number of bytes the next frame takes, as far as its length is known. */
function readNeeded(received: Buffer, start: number): number {
  if (received.length - start < LENGTH_BYTES) return LENGTH_BYTES;
  const length = received.readUInt32LE(start);
  if (length < 1 || length > MAX_FRAME) throw new Error(`an invalid frame length of ${length} bytes`);
  return LENGTH_BYTES + length;
}

function decode(body: Buffer): Frame {
  return { type: String.fromCharCode(body[0] ?? 0), text: body.toString("utf8", 1) };
}
