import { expect, test } from "vitest";
import { Random } from "../support/random.ts";
import { TenantStorm } from "../support/tenant-storm.ts";

/** A sample of `npm run torture -- tenants`. */
const OPERATIONS = 300;
const SEED = 20_261_118;

test("C3: in a storm of random requests no gateway answers with a text of another scope, or changes its records", async () => {
  await using storm = await TenantStorm.start(new Random(SEED));
  const { operations, problems } = await storm.run(OPERATIONS);
  expect(problems).toEqual([]);
  expect(Object.keys(operations).length).toBeGreaterThan(20);
});
