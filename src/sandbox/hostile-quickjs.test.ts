import { randomInt } from "node:crypto";
import { hostilePrograms } from "../../test/support/hostile.ts";
import { describeHostilePrograms } from "../../test/support/hostile-suite.ts";

/** A fourth of them; `npm run torture -- sandbox --only quickjs` runs all. */
const SHARE = 4;
const first = randomInt(SHARE);

describeHostilePrograms(
  "quickjs",
  hostilePrograms.filter((_, index) => index % SHARE === first),
);
