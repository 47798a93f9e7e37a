import type { Client, DiscoverResult } from "@modelcontextprotocol/client";
import { expect, test } from "vitest";
import { EraMemory } from "./era-verdict.ts";

const HOUR_MS = 60 * 60 * 1000;
const discover = { supportedVersions: ["2026-07-28"] } as unknown as DiscoverResult;

function connected(era: "modern" | "legacy"): Client {
  return { getProtocolEra: () => era, getDiscoverResult: () => discover } as unknown as Client;
}

test.each(["modern", "legacy"] as const)("EraMemory asks a %s server once a day", (kind) => {
  const memory = new EraMemory(undefined);
  expect(memory.next(0)).toBeUndefined();
  const verdict = memory.succeeded(connected(kind), 0);
  expect(verdict).toEqual({ era: kind === "modern" ? { kind, discover } : { kind }, askedAt: new Date(0) });
  for (const reader of [memory, new EraMemory(verdict)]) {
    expect(reader.next(23 * HOUR_MS)).toEqual(verdict?.era);
    expect(reader.succeeded(connected(kind), 23 * HOUR_MS)).toBeUndefined();
    expect(reader.next(25 * HOUR_MS)).toBeUndefined();
    expect(reader.succeeded(connected(kind), 25 * HOUR_MS)?.askedAt).toEqual(new Date(25 * HOUR_MS));
  }
});

test("EraMemory does not ask a server again that failed when it was asked, but tries it as one of 2025", () => {
  const memory = new EraMemory(undefined);
  memory.next();
  memory.failed();
  expect(memory.next()).toEqual({ kind: "legacy" });
  memory.failed();
  expect(memory.next()).toBeUndefined();
  memory.failed();
  memory.next();
  expect(memory.succeeded(connected("legacy"))).toMatchObject({ era: { kind: "legacy" } });
  expect(memory.next()).toEqual({ kind: "legacy" });
});

test("EraMemory asks a server that failed when it was taken for what it was", () => {
  const memory = new EraMemory({ era: { kind: "modern", discover }, askedAt: new Date() });
  expect(memory.next()).toMatchObject({ kind: "modern" });
  memory.failed();
  expect(memory.next()).toBeUndefined();
  expect(memory.succeeded(connected("legacy"))).toMatchObject({ era: { kind: "legacy" } });
  memory.forget();
  expect(memory.next()).toBeUndefined();
});
