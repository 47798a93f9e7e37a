import { expect, test } from "vitest";
import { openTestDatabase } from "../../../test/support/databases.ts";
import { seedFindable } from "../../../test/support/discovery-scene.ts";
import type { Scope } from "../../registry/scope.ts";
import { probability, toFeatures } from "./confidence.ts";
import { Outcomes } from "./outcomes.ts";

const scope: Scope = { org: "acme", project: "shop" };
const features = toFeatures({ similarity: 1, lead: 1, likelihood: -1, consumed: 1, support: 1 });
const me = "018f0000-0000-7000-8000-000000000001";
const other = "018f0000-0000-7000-8000-000000000002";

const confidenceOf = async (from: Outcomes, principal: string): Promise<number> =>
  probability((await from.calibrationOf(principal)).weights, features);

test("outcomes calibrate the confidence of their principal, also after a restart, and nobody else's", async () => {
  await using client = await openTestDatabase("pglite");
  const { db } = client;
  const suggested = await seedFindable(db, scope, { name: "one", description: "first" });
  const ran = await seedFindable(db, scope, { name: "two", description: "second" });
  const outcomes = new Outcomes(db, scope);
  const shipped = await confidenceOf(outcomes, me);
  const decide = async (principal: string, id: string): Promise<void> => {
    const asked = { principal, intent: "do it" };
    outcomes.suggested(asked, { group: suggested.slice("cap:".length), features, confidence: 0.99 });
    // a run for something else says nothing
    await outcomes.ran({ ...asked, intent: "do something else" }, id.slice("cap:".length));
    await outcomes.ran(asked, id.slice("cap:".length));
    // nor does a second one: the suggestion has been answered
    await outcomes.ran(asked, id.slice("cap:".length));
  };
  for (let count = 0; count < 19; count += 1) await decide(me, ran);
  expect(await confidenceOf(outcomes, me)).toBe(shipped);
  await decide(me, ran);
  const doubtful = await confidenceOf(outcomes, me);
  expect(doubtful).toBeLessThan(shipped);
  expect(await confidenceOf(new Outcomes(db, scope), me)).toBe(doubtful);
  expect(await confidenceOf(outcomes, other)).toBe(shipped);
  for (let count = 0; count < 149; count += 1) await decide(other, suggested);
  expect(await outcomes.calibrationOf(other)).toMatchObject({ isProven: true });
  expect(await outcomes.calibrationOf(me)).toMatchObject({ isProven: false });
});
