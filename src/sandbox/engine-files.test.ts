import { existsSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { refuseUnsafe, resolveEngine } from "./engine-files.ts";

describe("resolveEngine", () => {
  it("finds isolated-vm on this machine, and QuickJS everywhere", () => {
    for (const name of ["isolated-vm", "quickjs"] as const) {
      const { name: found, files } = resolveEngine(name);
      expect(found).toBe(name);
      expect(files.every((file) => existsSync(file))).toBe(true);
    }
    expect(resolveEngine("auto").name).toBe("isolated-vm");
  });

  it("refuses versions with a known sandbox escape", () => {
    for (const version of ["7.0.1", "7.0.2", "7.1.0", "8.0.0"]) refuseUnsafe(version);
    for (const version of ["7.0.0", "6.2.0", "5.9.9"]) expect(() => refuseUnsafe(version)).toThrow(version);
  });
});
