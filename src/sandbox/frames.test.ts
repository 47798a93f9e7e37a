import { describe, expect, it } from "vitest";
import { encodeFrame, FrameReader } from "./frames.ts";

describe("FrameReader", () => {
  const frames = [
    { type: "M", text: "one" },
    { type: "R", text: "" },
    { type: "E", text: "zwölf €" },
  ];
  const bytes = Buffer.concat(frames.map(({ type, text }) => encodeFrame(type, text)));

  it.each([1, 2, 3, 7, bytes.length])("finds frames in chunks of %i bytes", (size) => {
    const reader = new FrameReader();
    const found = [];
    for (let at = 0; at < bytes.length; at += size) found.push(...reader.push(bytes.subarray(at, at + size)));
    expect(found).toEqual(frames);
  });

  it("refuses a frame that is longer than any child's", () => {
    const header = Buffer.alloc(4);
    header.writeUInt32LE(17 * 1024 * 1024);
    expect(() => new FrameReader().push(header)).toThrow("17825792 bytes");
    expect(() => new FrameReader().push(Buffer.alloc(4))).toThrow("0 bytes");
  });
});
