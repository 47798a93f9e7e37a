import { expect, test } from "vitest";
import { paginate } from "./paginate.ts";

test("paginate gives everything once, page by page", () => {
  const items = Array.from({ length: 2_500 }, (_, index) => index);
  const seen: number[] = [];
  let cursor: string | undefined;
  let pages = 0;
  do {
    const page = paginate(items, cursor);
    seen.push(...page.items);
    cursor = page.nextCursor;
    pages += 1;
  } while (cursor !== undefined);
  expect([seen, pages]).toEqual([items, 3]);
});

test("paginate ends exactly at a page's end, and has a page for an empty list", () => {
  expect(paginate(Array.from({ length: 1_000 }), undefined).nextCursor).toBeUndefined();
  expect(paginate([], undefined)).toEqual({ items: [] });
});

test.each(["next", "-1", "1.5", "4", "NaN"])("paginate refuses the cursor %s", (cursor) => {
  expect(() => paginate([1, 2, 3], cursor)).toThrow(`The cursor "${cursor}" is not one this list gave out`);
});
