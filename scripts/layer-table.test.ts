import { expect, test } from "vitest";
import { checkImport } from "./layer-table.ts";

test("checkImport allows imports in the table and inside a layer", () => {
  expect(checkImport("src/housekeeping/write-backup.ts", "src/db/client.ts")).toBeUndefined();
  expect(checkImport("src/db/migrate.ts", "src/db/template.ts")).toBeUndefined();
});

test("checkImport refuses an import against the layers", () => {
  expect(checkImport("src/db/migrate.ts", "src/app/app.ts")).toBe(
    "src/db/migrate.ts (db) must not import src/app/app.ts (app)",
  );
});

test("checkImport refuses a file that belongs to no layer", () => {
  expect(checkImport("src/helpers.ts", "src/base/errors.ts")).toBe("src/helpers.ts belongs to no layer");
});
