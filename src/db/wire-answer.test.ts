import { expect, test } from "vitest";
import { findEngineDeath, isIdle, mayRunStatement } from "./wire-answer.ts";

const ready = (status: string): Buffer => Buffer.from(`Z\0\0\0\u0005${status}`, "latin1");
const panic = Buffer.from(
  "E\0\0\0\u0080SPANIC\0VPANIC\0C53100\0Mcould not write to file: No space left on device\0\0",
  "latin1",
);
const error = Buffer.from("E\0\0\0\u0080SERROR\0VERROR\0C42601\0Msyntax error, not a FATAL one\0\0", "latin1");

test("findEngineDeath reads the reason from an answer that ends in a panic", () => {
  expect(findEngineDeath(panic)).toBe("could not write to file: No space left on device");
});

test("findEngineDeath ignores ordinary errors and the data of a query", () => {
  expect(findEngineDeath(Buffer.concat([error, ready("E")]))).toBeUndefined();
  expect(findEngineDeath(Buffer.concat([panic, ready("I")]))).toBeUndefined();
  expect(findEngineDeath(error)).toBeUndefined();
});

test("mayRunStatement is true between complete requests, unless the transaction has failed", () => {
  expect(mayRunStatement(ready("I"))).toBe(true);
  expect(mayRunStatement(ready("T"))).toBe(true);
  expect(mayRunStatement(ready("E"))).toBe(false);
  expect(mayRunStatement(Buffer.from("1\0\0\0\u0004"))).toBe(false);
});

test("isIdle is true only outside of transactions", () => {
  expect([ready("I"), ready("T"), ready("E"), Buffer.from("1\0\0\0\u0004")].map(isIdle)).toEqual([
    true,
    false,
    false,
    false,
  ]);
});
