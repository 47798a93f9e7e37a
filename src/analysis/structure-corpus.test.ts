import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { formatOutcome } from "../../test/support/structure-text.ts";
import { sampleCatalogue } from "../../test/support/tool-catalogue.ts";
import { packageRoot } from "../base/package-info.ts";
import { analyseProgram } from "./analyse-program.ts";

const folder = join(packageRoot, "test/structure-corpus");
const names = readdirSync(folder).flatMap((file) =>
  file.endsWith(".program") ? [file.slice(0, -".program".length)] : [],
);

describe("the structure corpus", () => {
  test("has programs of all kinds", () => {
    expect(names.length).toBeGreaterThanOrEqual(60);
  });

  test.each(names)("%s", (name) => {
    const read = (extension: string): string => readFileSync(join(folder, `${name}.${extension}`), "utf8");
    expect(formatOutcome(analyseProgram(read("program"), sampleCatalogue))).toBe(read("structure"));
  });
});
