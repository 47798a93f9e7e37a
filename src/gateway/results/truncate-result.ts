import type { CallToolResult, ContentBlock } from "@modelcontextprotocol/server";
import { jsonBytes } from "./json-size.ts";
import { type Cut, cutText, fillInOrder, shrinkJson, type ShrinkOptions, type Shrunk } from "./shrink-json.ts";
import { isJsonOf } from "./result-text.ts";

export interface TruncateOptions {
  readonly maxBytes: number;
  readonly outputSchema: unknown;
  /** Whether structured content fits the output schema. */
  readonly isValid: (structuredContent: unknown) => boolean;
}

export interface TruncatedResult {
  readonly result: CallToolResult;
  readonly cuts: readonly Cut[];
  /** The structured content could not be shortened to something that its schema allows. */
  readonly structureLost: boolean;
}

/**
 * Shortens a result so that it stays valid and every part is begun; a part that is useful only whole is never cut.
 * Content and structured content get the limit each, because clients show one or the other.
 */
export function truncateResult(result: CallToolResult, options: TruncateOptions): TruncatedResult {
  const { content, structuredContent, ...rest } = result;
  const extras = keepSmall(rest, options.maxBytes * LARGEST_EXTRA_SHARE);
  const room = options.maxBytes - jsonBytes({ ...extras.kept, content: [] });
  const structured =
    structuredContent === undefined ? undefined : shrinkStructured({ content, structuredContent }, room, options);
  const blocks = shrinkBlocks(structured?.content ?? content, room);
  return {
    result: { ...extras.kept, content: blocks.content, ...structured?.part },
    cuts: [...(structured?.cuts ?? []), ...blocks.cuts, ...extras.cuts],
    structureLost: structured?.part.structuredContent === undefined && structuredContent !== undefined,
  };
}

type Extras = Omit<CallToolResult, "content" | "structuredContent">;

const LARGEST_EXTRA_SHARE = 1 / 16;
/** The overhead of a text block. */
const BLOCK_BYTES = 32;

/** Cuts other members only where they are large; usually they are small. */
function keepSmall(extras: Extras, maxBytes: number): { kept: Extras; cuts: Cut[] } {
  const large = Object.entries(extras).filter(([, value]) => jsonBytes(value, maxBytes) > maxBytes);
  const names = new Set(large.map(([name]) => name));
  return {
    kept: Object.fromEntries(Object.entries(extras).filter(([name]) => !names.has(name))),
    cuts: large.map(([path, value]) => ({ path, kept: 0, of: jsonBytes(value), unit: "bytes" })),
  };
}

interface FittedStructure {
  /** Empty where the schema allows nothing short. */
  readonly part: Pick<CallToolResult, "structuredContent">;
  /** The content, with a text that mirrors the structured content. */
  readonly content: readonly ContentBlock[];
  readonly cuts: readonly Cut[];
}

function shrinkStructured(
  { content, structuredContent }: Pick<CallToolResult, "content" | "structuredContent">,
  room: number,
  { outputSchema, isValid }: TruncateOptions,
): FittedStructure {
  const mirror = findMirror(content, structuredContent);
  const withText = (text: string): ContentBlock[] =>
    mirror === undefined ? content : content.toSpliced(mirror, 1, { type: "text", text });
  const options = { maxBytes: room - BLOCK_BYTES, path: "structuredContent", schema: outputSchema ?? {} };
  const { value, cuts } =
    mirror === undefined ? shrinkJson(structuredContent, options) : shrinkWithText(structuredContent, options);
  if (jsonBytes(value, room) > room || !isValid(value))
    return { part: {}, content: withText(JSON.stringify(structuredContent)), cuts: [] };
  const part = { structuredContent: value };
  return { part, content: withText(JSON.stringify(value)), cuts };
}

/** Finds the block that mirrors the structured content, or the place where such a block belongs. */
function findMirror(content: readonly ContentBlock[], structuredContent: unknown): number | undefined {
  const texts = content.flatMap((block, index) => (block.type === "text" ? [{ index, text: block.text }] : []));
  const [only, ...others] = texts;
  if (only === undefined) return content.length;
  return others.length === 0 && isJsonOf(only.text, structuredContent) ? only.index : undefined;
}

function shrinkBlocks(blocks: readonly ContentBlock[], room: number): { content: ContentBlock[]; cuts: Cut[] } {
  const cuts: (readonly Cut[])[] = [];
  const content = fillInOrder({
    items: blocks,
    room,
    shrink: (block, share, index) => {
      if (jsonBytes(block, share) <= share) return block;
      const shrunk = shrinkBlock(block, share, `content[${index}]`);
      cuts[index] = shrunk.cuts;
      return shrunk.block;
    },
  });
  const made = cuts.slice(0, content.length).flat();
  if (content.length === blocks.length) return { content, cuts: made };
  return { content, cuts: [...made, { path: "content", kept: content.length, of: blocks.length, unit: "items" }] };
}

function shrinkBlock(
  block: ContentBlock,
  maxBytes: number,
  path: string,
): { block: ContentBlock; cuts: readonly Cut[] } {
  if (block.type === "text") {
    const room = maxBytes - jsonBytes({ ...block, text: "" });
    const { text, cuts } = shrinkText(block.text, room, `${path}.text`);
    return { block: { ...block, text }, cuts };
  }
  if (block.type === "resource" && "text" in block.resource) {
    const { resource } = block;
    const { shown, kept } = cutText(
      resource.text,
      maxBytes - jsonBytes({ ...block, resource: { ...resource, text: "" } }),
    );
    return {
      block: { ...block, resource: { ...resource, text: shown } },
      cuts: [{ path: `${path}.resource.text`, kept, of: resource.text.length, unit: "characters" }],
    };
  }
  const of = jsonBytes(block);
  return {
    block: { type: "text", text: `[${describeBlock(block)}, ${of} bytes, left out]` },
    cuts: [{ path, kept: 0, of, unit: "bytes" }],
  };
}

function describeBlock(block: ContentBlock): string {
  if (block.type === "resource") return block.resource.mimeType ?? "resource";
  return "mimeType" in block && block.mimeType !== undefined ? `${block.type} ${block.mimeType}` : block.type;
}

/** Shortens JSON in a text as JSON. */
function shrinkText(text: string, maxBytes: number, path: string): { text: string; cuts: readonly Cut[] } {
  const parsed = parseJson(text);
  if (typeof parsed === "object" && parsed !== null) {
    const { value, cuts } = shrinkWithText(parsed, { maxBytes, path });
    const shrunk = JSON.stringify(value);
    if (jsonBytes(shrunk) <= maxBytes) return { text: shrunk, cuts };
  }
  const { shown, kept } = cutText(text, maxBytes);
  return { text: shown, cuts: [{ path, kept, of: text.length, unit: "characters" }] };
}

/** The share of the room for JSON in a text, whose quotes are escaped. */
const TEXT_SHARES = [0.85, 0.7, 0.5];

/** Shrinks a value so that its escaped text fits too, where possible. */
function shrinkWithText(value: unknown, options: ShrinkOptions): Shrunk {
  let shrunk: Shrunk = { value, cuts: [] };
  for (const share of TEXT_SHARES) {
    shrunk = shrinkJson(value, { ...options, maxBytes: options.maxBytes * share });
    if (jsonBytes(JSON.stringify(shrunk.value)) <= options.maxBytes) break;
  }
  return shrunk;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
