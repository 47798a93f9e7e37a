import { expect, test } from "vitest";
import { EFFECTS, type Effect, type EffectClaims, effectOf, readHints } from "./effect.ts";
import type { Decision, DecisionSource, PlannedTool } from "./plan.ts";
import { decide, NO_RULES, type Rules } from "./rule-model.ts";
import { createPattern } from "./tool-pattern.ts";

const source: DecisionSource = { kind: "config", at: "here" };
const DECISIONS: readonly Decision[] = ["allow", "ask", "deny"];
const hintsOf: Record<Effect, EffectClaims> = {
  read: { readOnlyHint: true },
  idempotent: { destructiveHint: false, idempotentHint: true },
  write: { destructiveHint: false },
  destructive: { destructiveHint: true },
};

function tool(effect: Effect, id = "github:create_issue"): PlannedTool {
  return { id, schemaHash: "s1", annotations: { ...hintsOf[effect], believed: true } };
}

function state<T>(pattern: string, value: T) {
  return { pattern: createPattern(pattern), value, source };
}

function decideWith(
  rules: Partial<Rules>,
  planned: PlannedTool,
  remembered = [] as { id: string; tool: string; schemaHash: string }[],
) {
  return decide({ kind: "usable", rules: { ...NO_RULES, ...rules } }, planned, { remembered });
}

test.each<[EffectClaims | undefined, Effect, Effect]>([
  [undefined, "destructive", "destructive"],
  [{}, "destructive", "destructive"],
  [{ readOnlyHint: false }, "destructive", "destructive"],
  [{ idempotentHint: true }, "destructive", "destructive"],
  [{ destructiveHint: true, idempotentHint: true }, "destructive", "destructive"],
  [{ readOnlyHint: true, destructiveHint: true }, "read", "write"],
  [{ readOnlyHint: true }, "read", "write"],
  [{ destructiveHint: false }, "write", "write"],
  [{ destructiveHint: false, idempotentHint: true }, "idempotent", "write"],
])("the hints %o mean %s, and %s while nobody believes them", (claims, believed, doubted) => {
  expect(effectOf(readHints(claims, true))).toBe(believed);
  expect(effectOf(readHints(claims, false))).toBe(doubted);
  expect(effectOf(claims)).toBe(doubted);
});

test("a server cannot say that it is believed, and annotations may be anything", () => {
  const forged = { readOnlyHint: true, believed: true };
  expect(effectOf(readHints(forged, false))).toBe("write");
  for (const odd of [null, "x", 1, [], { readOnlyHint: "true" }])
    expect(effectOf(readHints(odd as EffectClaims | null, true))).toBe("destructive");
});

/** All 512 sets of decisions for the exact tool, its server, and everything. */
const statements = DECISIONS.flatMap((decision) =>
  ["github:create_issue", "github", "*"].map((pattern) => ({ pattern, decision })),
);
const combinations = Array.from({ length: 2 ** statements.length }, (_, bits) =>
  statements.filter((_statement, index) => (bits & (2 ** index)) !== 0),
);

test.each(EFFECTS)(
  "every combination of rules about a tool that is %s, with and without a remembered rule",
  (effect) => {
    const own = { id: "rul_1", tool: "github:create_issue", schemaHash: "s1" };
    for (const rules of combinations) {
      for (const remembered of [[], [own]]) {
        const strictest = DECISIONS.toReversed().find((each) => rules.some(({ decision }) => decision === each));
        const isRememberable = effect === "write" || effect === "idempotent";
        const byEffect = effect === "read" || (isRememberable && remembered.length > 0) ? "allow" : "ask";
        const verdict = decideWith(
          { decisions: rules.map(({ pattern, decision }) => state(pattern, decision)) },
          tool(effect),
          remembered,
        );
        const what = JSON.stringify({ rules, remembered });
        expect(verdict.decision, what).toBe(strictest ?? byEffect);
        expect(verdict.effect, what).toBe(effect);
        const asksByEffect = strictest === undefined && isRememberable && remembered.length === 0;
        expect(verdict.rememberable, what).toBe(asksByEffect);
      }
    }
  },
);

test("rules about other tools and servers decide nothing", () => {
  const decisions = ["github:delete_issue", "gitlab", "git:*", "*:read_*", "hub:create_issue", "*hub*:*_pull"].map(
    (each) => state<Decision>(each, "deny"),
  );
  expect(decideWith({ decisions }, tool("read"))).toMatchObject({ decision: "allow", source: { kind: "default" } });
});

test("deny wins and the order has no meaning, for any rules", () => {
  const random = createRandom(7);
  const pick = <T>(items: readonly T[]): T => items[Math.floor(random() * items.length)]!;
  const patterns = ["*", "*:*", "a", "a:*", "a:x", "a:x*", "*:x", "*:*y", "b", "b:xy", "*a*:*", "a:x*y"];
  const ids = ["a:x", "a:xy", "a:y", "b:x", "b:xy", "ab:xzy"];
  for (let round = 0; round < 3_000; round += 1) {
    const rules: Rules = {
      decisions: Array.from({ length: random() * 6 }, () => state(pick(patterns), pick(DECISIONS))),
      effects: Array.from({ length: random() * 4 }, () => state(pick(patterns), pick(EFFECTS))),
      routings: Array.from({ length: random() * 4 }, () => state(pick(patterns), pick(["local", "cloud"] as const))),
      scopes: Array.from({ length: random() * 2 }, () => state(pick(patterns), pick(["readonly", "filesystem"]))),
    };
    const shuffled: Rules = {
      decisions: shuffle(rules.decisions, random),
      effects: shuffle(rules.effects, random),
      routings: shuffle(rules.routings, random),
      scopes: shuffle(rules.scopes, random),
    };
    const planned = tool(pick(EFFECTS), pick(ids));
    const { decision, effect, routing, rememberable } = decideWith(rules, planned);
    expect(decideWith(shuffled, planned)).toMatchObject({ decision, effect, routing, rememberable });
    const isDenied = rules.decisions.some(({ pattern, value }) => value === "deny" && pattern.matches(planned.id));
    expect(isDenied ? decision : "deny").toBe("deny");
    const denied = { ...rules, decisions: [...rules.decisions, state<Decision>("*", "deny")] };
    expect(decideWith(denied, planned).decision).toBe("deny");
  }
});

test("the most specific effect counts, the more severe of a tie; a remembered rule does not cover a changed tool", () => {
  const effects = [
    state<Effect>("*", "read"),
    state<Effect>("github:*", "destructive"),
    state<Effect>("github:create_*", "write"),
  ];
  expect(decideWith({ effects }, tool("read"))).toMatchObject({ effect: "write", decision: "ask", rememberable: true });
  const twice = [state<Effect>("github:create_issue", "read"), state<Effect>("github:create_issue", "write")];
  expect(decideWith({ effects: twice }, tool("read")).effect).toBe("write");
  const changed = { id: "rul_1", tool: "github:create_issue", schemaHash: "before" };
  expect(decideWith({}, tool("write"), [changed]).decision).toBe("ask");
});

test("a server with a read-only scope permits only reading tools", () => {
  const scopes = [state("github", "ReadOnly")];
  expect(decideWith({ scopes }, tool("read")).decision).toBe("allow");
  const decisions = [state<Decision>("github", "allow")];
  expect(decideWith({ scopes, decisions }, tool("write"))).toMatchObject({
    decision: "deny",
    reason: `denied: its scope is "ReadOnly" in here, and it changes something (its server says so)`,
  });
});

test("broken rules deny everything and say why", () => {
  const error = { code: "permissions_broken", id: "PML-E6001", message: "f.yaml:3 is not valid" } as const;
  const set = { kind: "broken", error, source: { kind: "file", at: "f.yaml:3" } } as const;
  expect(decide(set, tool("read"), { remembered: [] })).toMatchObject({
    decision: "deny",
    reason: "denied: f.yaml:3 is not valid",
    source: { at: "f.yaml:3" },
  });
});

test.each([
  ["write", {}, "it changes something (its server says so)"],
  ["destructive", {}, "it may overwrite or delete something (its server says so)"],
  ["read", { effects: [state<Effect>("*", "write")] }, "it changes something (here)"],
  ["read", { decisions: [state<Decision>("github", "ask")] }, `a person is asked every time: "github" in here`],
] as const)("the reason for asking about a tool that is %s", (effect, rules, reason) => {
  expect(decideWith(rules, tool(effect)).reason).toBe(reason);
});

function shuffle<T>(items: readonly T[], random: () => number): T[] {
  return items
    .map((item) => ({ item, at: random() }))
    .toSorted((a, b) => a.at - b.at)
    .map(({ item }) => item);
}

function createRandom(seed: number): () => number {
  let state32 = seed;
  return () => {
    state32 = (Math.imul(state32, 1_664_525) + 1_013_904_223) >>> 0;
    return state32 / 2 ** 32;
  };
}
