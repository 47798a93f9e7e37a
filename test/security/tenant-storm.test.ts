import { afterAll, beforeAll, expect, test } from "vitest";
import { createServerDatabase } from "../support/databases.ts";
import { Random } from "../support/random.ts";
import { TenantStorm } from "../support/tenant-storm.ts";

/** A sample of `npm run torture -- tenants`. */
const OPERATIONS = 200;
const SEED = 20_261_118;
/** Three gateways start and share the machine with other tests. */
const LIMIT_MS = 240_000;

let storm: TenantStorm;
beforeAll(async () => {
  storm = await TenantStorm.start(new Random(SEED), await createServerDatabase());
}, LIMIT_MS);
afterAll(() => storm[Symbol.asyncDispose]());

test(
  "C3: in a storm of random requests no gateway answers with a text of another scope, or changes its records",
  { timeout: LIMIT_MS },
  async () => {
    const { operations, problems } = await storm.run(OPERATIONS);
    expect(problems).toEqual([]);
    expect(Object.keys(operations).length).toBeGreaterThan(20);
  },
);
