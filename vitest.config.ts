import { defineConfig } from "vitest/config";
import { ENGINE_FLAGS } from "./src/base/engine-flags.ts";

export default defineConfig({
  test: {
    globalSetup: ["test/support/global-setup.ts"],
    pool: "forks",
    // Tests run parts of the daemon, the database above all, in their own process.
    execArgv: [...ENGINE_FLAGS.pml],
    // Two cores, and most tests start processes of their own, which keep both busy.
    maxWorkers: 2,
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // Polls wait for processes and databases, which a busy machine delays; the default is one second.
    expect: { poll: { timeout: 15_000 } },
    projects: [
      {
        extends: true,
        test: { name: "unit", include: ["{src,lib,scripts,bench}/**/*.test.ts"] },
      },
      {
        extends: true,
        test: { name: "acceptance", include: ["test/acceptance/**/*.test.ts", "test/security/**/*.test.ts"] },
      },
    ],
  },
});
