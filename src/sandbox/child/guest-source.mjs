// @ts-check
import { readFileSync } from "node:fs";

/** In order of dependency. */
const CORE = ["intrinsics", "channel", "tool-globals", "marks", "console", "determinism", "timers", "outcome", "boot"];
const WEB = ["encoding", "structured-clone", "abort", "url-parts", "url-search-params", "url", "web"];

/**
 * Returns the guest's modules as one script, because an isolate has no module loader: an expression that evaluates to a
 * function of `send`. The web modules are a string inside it, so that only programs that use them pay for compiling
 * them.
 */
export function readGuestSource() {
  const web = `(() => { "use strict";\n${WEB.map(readModule).join("\n")}\nreturn createWebGlobals; })()`;
  return `((send) => { "use strict";\n${CORE.map(readModule).join("\n")}\nreturn boot(send, ${JSON.stringify(web)}); })`;
}

/** Removes imports, exports and doc comments. @param {string} name */
function readModule(name) {
  const text = readFileSync(new URL(`../guest/${name}.mjs`, import.meta.url), "utf8");
  return text
    .replace(/^import [^;]*;$/gm, "")
    .replace(/^export /gm, "")
    .replace(/^ *\/\*\*[^]*?\*\/\n/gm, "");
}
