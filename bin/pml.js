#!/usr/bin/env node
// Plain JavaScript on purpose: an old Node must be able to parse this file and print the message before it loads
// anything else.
const needed = 24;
const running = process.versions.node;
if (Number(running.split(".")[0]) < needed) {
  const args = process.argv.slice(2).join(" ");
  process.stderr.write(
    "PML needs Node " +
      needed +
      " or newer, this is " +
      running +
      ". " +
      "Try: npx -p node@" +
      needed +
      " -p pml pml " +
      (args || "--help") +
      "\n",
  );
  process.exit(1);
}
const { existsSync } = await import("node:fs");
const { enableCompileCache } = await import("node:module");
enableCompileCache(); // compiling takes a good part of a start
// A checkout runs its sources, so that no stale build is ever run; the published package has only the build.
const source = new URL("../src/main.ts", import.meta.url);
await import((existsSync(source) ? source : new URL("../dist/src/main.js", import.meta.url)).href);
