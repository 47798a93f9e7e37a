export interface Frame {
  readonly type: string;
  readonly text: string;
}

const LENGTH_BYTES = 4;
/** Larger than every limit on what a guest may send; a frame above it is not a guest's but an attack. */
const LONGEST_FRAME = 16 * 1024 * 1024;

export function encodeFrame(type: string, text: string): Buffer {
  const length = Buffer.byteLength(text) + 1;
  const frame = Buffer.allocUnsafe(LENGTH_BYTES + length);
  frame.writeUInt32LE(length, 0);
  frame.write(type, LENGTH_BYTES, "latin1");
  frame.write(text, LENGTH_BYTES + 1);
  return frame;
}

/** Cuts what a child writes into frames. */
export class FrameReader {
  #parts: Buffer[] = [];
  #bytes = 0;
  /** Bytes that are needed before there is anything to cut. */
  #needed = LENGTH_BYTES;

  /** The frames that are complete with this chunk; throws on one that cannot be a child's. */
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

/** How many bytes the next frame takes, as far as that is known. */
function readNeeded(received: Buffer, start: number): number {
  if (received.length - start < LENGTH_BYTES) return LENGTH_BYTES;
  const length = received.readUInt32LE(start);
  if (length < 1 || length > LONGEST_FRAME) throw new Error(`a frame of ${length} bytes`);
  return LENGTH_BYTES + length;
}

function decode(body: Buffer): Frame {
  return { type: String.fromCharCode(body[0] ?? 0), text: body.toString("utf8", 1) };
}
