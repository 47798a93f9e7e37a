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
const { existsSync, lstatSync, mkdirSync, statSync } = await import("node:fs");
const { enableCompileCache } = await import("node:module");
const { homedir } = await import("node:os");
const { dirname, isAbsolute, join } = await import("node:path");

/**
 * Returns a folder that nobody else could have written to, because the compiled code in it is run: neither the shared
 * temporary folder, which is Node's default, nor one that another user put there. Undefined where there is none.
 */
function findCacheFolder() {
  try {
    // oxlint-disable-next-line node/no-process-env -- src/config/ is compiled with this cache
    const chosen = process.env["XDG_CACHE_HOME"] ?? "";
    const folder = join(isAbsolute(chosen) ? chosen : join(homedir(), ".cache"), "pml");
    if (!isAbsolute(folder)) return undefined;
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    if (process.platform === "win32") return folder; // folders of a user are closed to others there
    const user = process.getuid();
    const { mode, uid } = lstatSync(folder);
    const isPrivate = (mode & 0o170_777) === 0o040_700 && uid === user;
    return isPrivate && [0, user].includes(statSync(dirname(folder)).uid) ? folder : undefined;
  } catch {
    return undefined; // a start without a cache is slower, and that is all
  }
}

const cache = findCacheFolder();
if (cache !== undefined) enableCompileCache(cache); // compiling takes a good part of a start
// A checkout runs its sources, so that no stale build is ever run; the published package has only the build.
const source = new URL("../src/main.ts", import.meta.url);
await import((existsSync(source) ? source : new URL("../dist/src/main.js", import.meta.url)).href);
