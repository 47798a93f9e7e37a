import { afterEach, expect, test, vi } from "vitest";
import { createDecisionKey } from "./decision-key.ts";

afterEach(() => void vi.useRealTimers());

test("only the key is the key", () => {
  const key = createDecisionKey("secret");
  expect([key.matches("secret"), key.matches("secre"), key.matches(""), key.matches(undefined)]).toEqual([
    true,
    false,
    false,
    false,
  ]);
});

test("a ticket is for one approval, for a quarter of an hour, and cannot be made without the key", () => {
  vi.useFakeTimers();
  const key = createDecisionKey("secret");
  const ticket = key.ticketFor("apr_1");
  expect(key.acceptsTicket("apr_1", ticket)).toBe(true);
  expect(key.acceptsTicket("apr_2", ticket)).toBe(false);
  expect(createDecisionKey("other").acceptsTicket("apr_1", ticket)).toBe(false);
  const [until = "", seal = ""] = ticket.split(".");
  expect(key.acceptsTicket("apr_1", `${Number(until) + 1}.${seal}`)).toBe(false);
  expect(key.acceptsTicket("apr_1", undefined)).toBe(false);
  vi.advanceTimersByTime(15 * 60_000);
  expect(key.acceptsTicket("apr_1", ticket)).toBe(false);
});
