import { SdkError, SdkErrorCode } from "@modelcontextprotocol/client";
import { expect, test } from "vitest";
import { describeStartFailure } from "./failures.ts";

const closed = new SdkError(SdkErrorCode.ConnectionClosed, "Connection closed");
const late = new SdkError(SdkErrorCode.RequestTimeout, "Request timed out");
const nothing = { exit: undefined, noise: undefined, limitMs: 1_500 };

test("describeStartFailure says how the process ended rather than that the connection closed", () => {
  expect(describeStartFailure({ ...nothing, error: closed, exit: "it exited with code 3" })).toBe(
    "it exited with code 3",
  );
  expect(describeStartFailure({ ...nothing, error: new Error("fetch failed") })).toBe("fetch failed");
});

test("describeStartFailure explains silence by the limit, and by what came instead of messages", () => {
  expect(describeStartFailure({ ...nothing, error: late })).toBe("it did not answer within 1.5 s");
  expect(describeStartFailure({ ...nothing, error: late, noise: "Welcome!" })).toBe(
    `it did not answer within 1.5 s; it wrote "Welcome!" to its output, which is no message`,
  );
});
