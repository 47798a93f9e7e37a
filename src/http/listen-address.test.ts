import { expect, test } from "vitest";
import { assertMayListen, hostNames, isLoopback, localUrl } from "./listen-address.ts";

test.each([
  ["127.0.0.1", true],
  ["127.8.9.1", true],
  ["localhost", true],
  ["::1", true],
  ["::ffff:127.0.0.1", true],
  ["0.0.0.0", false],
  ["::", false],
  ["192.168.1.5", false],
  ["127.0.0.1.evil.example", false],
  ["pml.example", false],
])("isLoopback %s: %s", (host, expected) => {
  expect(isLoopback(host)).toBe(expected);
  expect(() => assertMayListen(host, true)).not.toThrow();
});

test("without auth only loopback may be listened on, and the refusal says what to do", () => {
  expect(() => assertMayListen("127.0.0.1", false)).not.toThrow();
  expect(() => assertMayListen("0.0.0.0", false)).toThrow(
    expect.objectContaining({ code: "listen_refused", hint: expect.stringContaining("docs/guides/remote-use.md") }),
  );
});

test("whoever listens everywhere is reached over loopback", () => {
  expect([localUrl("0.0.0.0", 1), localUrl("::", 2), localUrl("192.0.2.7", 3), localUrl("::1", 4)]).toEqual([
    "http://127.0.0.1:1",
    "http://[::1]:2",
    "http://192.0.2.7:3",
    "http://[::1]:4",
  ]);
  expect([hostNames("0.0.0.0"), hostNames("2001:DB8::1"), hostNames("Box")]).toEqual([[], ["[2001:db8::1]"], ["box"]]);
});
