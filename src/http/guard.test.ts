import { expect, test } from "vitest";
import { checkRequest } from "./guard.ts";

const settings = { token: "right", hosts: ["pml.example"] };
const ours = { host: "127.0.0.1:7650", authorization: "Bearer right" };

test.each([
  ["loopback with the token", ours, true],
  ["localhost", { ...ours, host: "localhost:1" }, true],
  ["IPv6 loopback", { ...ours, host: "[::1]:7650" }, true],
  ["a name that was allowed", { ...ours, host: "pml.example" }, true],
  ["an origin of ours", { ...ours, origin: "http://localhost:7650" }, true],
  ["a rebound name", { ...ours, host: "evil.example" }, 403],
  ["a port that is none", { ...ours, host: "localhost:99999" }, 403],
  ["a name with something behind it", { ...ours, host: "localhost:1:2" }, 403],
  ["no host", { authorization: "Bearer right" }, 403],
  ["a foreign origin", { ...ours, origin: "https://evil.example" }, 403],
  ["an opaque origin", { ...ours, origin: "null" }, 403],
  ["a wrong token", { ...ours, authorization: "Bearer wrong" }, 401],
  ["no token", { host: ours.host }, 401],
])("checkRequest: %s", (_name, headers, expected) => {
  const verdict = checkRequest(headers, settings, true);
  expect(verdict.ok ? true : verdict.status).toBe(expected);
});

test("checkRequest asks no token where none is needed, but still checks Host and Origin", () => {
  expect(checkRequest({ host: ours.host }, settings, false).ok).toBe(true);
  expect(checkRequest({ host: "evil.example" }, settings, false).ok).toBe(false);
});
