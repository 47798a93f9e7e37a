import { ProtocolError } from "@modelcontextprotocol/server";

interface Page<T> {
  readonly items: T[];
  readonly nextCursor?: string;
}

/** Large, because some clients read the first page only and others stop after 64. */
const PAGE_SIZE = 1_000;
const INVALID_PARAMS = -32_602;

export function paginate<T>(items: readonly T[], cursor: string | undefined): Page<T> {
  const start = cursor === undefined ? 0 : Number(cursor);
  if (!Number.isInteger(start) || start < 0 || start > items.length) {
    throw new ProtocolError(INVALID_PARAMS, `The cursor "${cursor}" is not one this list gave out`);
  }
  const end = start + PAGE_SIZE;
  return { items: items.slice(start, end), ...(end < items.length ? { nextCursor: String(end) } : {}) };
}
