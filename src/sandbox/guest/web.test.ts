import { describe, expect, it } from "vitest";
import {
  atob as guestAtob,
  btoa as guestBtoa,
  TextDecoder as GuestDecoder,
  TextEncoder as GuestEncoder,
} from "./encoding.mjs";
import { structuredClone as guestClone } from "./structured-clone.mjs";
import { URLSearchParams as GuestParams } from "./url-search-params.mjs";
import { URL as GuestUrl } from "./url.mjs";

const change = (url: URL): string => {
  url.protocol = "http";
  url.host = "other.org:81";
  url.pathname = "a b/../c";
  url.search = "x=ü y";
  url.hash = "h h";
  url.searchParams.append("k", "v&w");
  url.searchParams.set("x", "1");
  url.searchParams.delete("none");
  url.username = "me@";
  url.password = ":";
  url.port = "80";
  return url.href;
};

/** Compares the guest's implementations with Node's. */
describe("the guest's web platform", () => {
  it.each([
    ["https://example.org"],
    ["HTTP://User:Pa ss@EXAMPLE.org:80/a/./b/../c?x=1#y"],
    ["https://example.org:8443/ä/%7e?q='ü'#fr ag"],
    ["http://127.0.0.1/a//b/"],
    ["http://[::1]:3000/x"],
    ["http://example.org?only=query"],
    ["http://example.org/%2e%2E/x/%2e"],
    ["ftp://h/a b<c>"],
    ["file:///etc/../tmp/x"],
    ["mailto:someone@example.org?subject=hi there"],
    ["data:text/plain,hello world"],
    ["urn:isbn:0451450523"],
    ["custom://host:99/a/../b?c"],
    ["ws://h:80/"],
    ["../c/d?x#y", "https://example.org/a/b/c"],
    ["/abs", "https://example.org/a/b?q"],
    ["?new=1", "https://example.org/a/b?old#h"],
    ["#frag", "https://example.org/a/b?old#h"],
    ["", "https://example.org/a/b?old#h"],
    ["//other.org/x", "https://example.org/a"],
    ["..", "https://example.org/a/b/c"],
    ["https://absolute.org/", "https://example.org/"],
    ["\\x\\y", "https://example.org/a"],
    ["  https://trim.org/ \n"],
    ["https://example.org/^{}|`"],
  ] as [string, string?][])("reads %s against %s", (input, base) => {
    const [ours, nodes] = [new GuestUrl(input, base), new URL(input, base)];
    const parts = [
      "href",
      "origin",
      "protocol",
      "username",
      "password",
      "host",
      "hostname",
      "port",
      "pathname",
      "search",
      "hash",
    ] as const;
    expect(Object.fromEntries(parts.map((part) => [part, ours[part]]))).toEqual(
      Object.fromEntries(parts.map((part) => [part, nodes[part]])),
    );
    expect(JSON.stringify(ours)).toBe(JSON.stringify(nodes));
  });

  it.each([
    "",
    "nothing",
    "http://",
    "http://a b/",
    "http://[::1",
    "http://h:99999/",
    "http://1.2.3.999/",
    "//x",
    "http://a%00b/",
  ])("refuses %s", (input) => {
    expect(() => new URL(input)).toThrow("Invalid URL");
    expect(() => new GuestUrl(input)).toThrow("Invalid URL");
    expect(GuestUrl.canParse(input)).toBe(false);
    expect(GuestUrl.parse(input)).toBeNull();
  });

  it("changes URLs like Node does", () => {
    expect(change(new GuestUrl("https://h/p") as unknown as URL)).toBe(change(new URL("https://h/p")));
  });

  it("reads and writes query strings like Node does", () => {
    for (const text of ["", "?a=1&b=2&a=3", "a=%zz&b=%E2%82%AC&=x&y", "a+b=c%2Bd", "%ff=1"]) {
      const [ours, nodes] = [new GuestParams(text), new URLSearchParams(text)];
      expect([...ours]).toEqual([...nodes]);
      expect(String(ours)).toBe(String(nodes));
      expect([ours.get("a"), ours.getAll("a"), ours.has("b"), ours.size]).toEqual([
        nodes.get("a"),
        nodes.getAll("a"),
        nodes.has("b"),
        nodes.size,
      ]);
    }
    expect(String(new GuestParams({ q: "!'()~*-._ é" }))).toBe(String(new URLSearchParams({ q: "!'()~*-._ é" })));
    const sorted = new GuestParams([
      ["b", "1"],
      ["a", "2"],
    ]);
    sorted.sort();
    expect(String(sorted)).toBe("a=2&b=1");
  });

  it("encodes and decodes UTF-8 like Node does", () => {
    for (const text of ["", "plain", "é€😀\u0000", "lone \ud800 and \udfff.", "\ufeffbom"]) {
      expect([...new GuestEncoder().encode(text)]).toEqual([...new TextEncoder().encode(text)]);
      const bytes = new TextEncoder().encode(text);
      expect(new GuestDecoder().decode(bytes)).toBe(new TextDecoder().decode(bytes));
    }
    for (const bytes of [
      [0xff],
      [0xc0, 0x80],
      [0xed, 0xa0, 0x80],
      [0xe2, 0x82],
      [0xf4, 0x90, 0x80, 0x80],
      [0x41, 0xf0, 0x9f, 0x41],
    ]) {
      const given = Uint8Array.from(bytes);
      expect(new GuestDecoder().decode(given)).toBe(new TextDecoder().decode(given));
      expect(() => new GuestDecoder("utf-8", { fatal: true }).decode(given)).toThrow(TypeError);
    }
  });

  it("encodes and decodes base64 like Node does", () => {
    for (const text of ["", "a", "ab", "abc", "\u0000\u00ff~"]) {
      expect(guestBtoa(text)).toBe(btoa(text));
      expect(guestAtob(guestBtoa(text))).toBe(text);
    }
    expect(guestAtob(" YQ == ")).toBe("a");
    for (const bad of ["a", "a===", "ä", "YQ=a"]) expect(() => guestAtob(bad)).toThrow("not base64");
    expect(() => guestBtoa("€")).toThrow("above U+00FF");
  });

  it("clones every cloneable value and refuses the others", () => {
    const cyclic: Record<string, unknown> = {
      list: Object.assign([1], { 2: 3 }),
      date: new Date(5),
      set: new Set([1]),
      re: /x/gi,
      bytes: new Uint8Array([1, 2]),
    };
    cyclic["self"] = cyclic;
    cyclic["map"] = new Map([[cyclic, new TypeError("t")]]);
    const copy = guestClone(cyclic);
    expect(copy).toEqual(cyclic);
    expect(copy["self"]).toBe(copy);
    expect(copy).not.toBe(cyclic);
    expect(() => guestClone({ f: () => 1 })).toThrow("could not be cloned");
    expect(() => guestClone(new WeakMap())).toThrow("could not be cloned");
  });
});
