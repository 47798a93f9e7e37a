import { expect, test } from "vitest";
import { openTestDatabase } from "../../test/support/databases.ts";
import { findStrayPath } from "../../test/support/observed-path.ts";

const PROGRAMS = 30;

test(`${PROGRAMS} random programs always follow a path of their structure`, async () => {
  await using client = await openTestDatabase("postgres");
  expect(await findStrayPath(client, { seed: 1, programs: PROGRAMS })).toBeUndefined();
});
