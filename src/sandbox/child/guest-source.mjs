// @ts-check
import { readFileSync } from "node:fs";

/** In the order in which they need each other. */
const CORE = ["intrinsics", "channel", "reach", "marks", "console", "determinism", "timers", "outcome", "boot"];
const WEB = ["encoding", "structured-clone", "abort", "url-parts", "url-search-params", "url", "web"];

/**
 * The guest's modules as one script, because an isolate has no module loader: an expression that evaluates to a function
 * of `send`. What is for the web is a text inside of it, so that programs which do not need it do not pay for it.
 */
export function readGuestSource() {
  const web = `(() => { "use strict";\n${WEB.map(readModule).join("\n")}\nreturn createWebGlobals; })()`;
  return `((send) => { "use strict";\n${CORE.map(readModule).join("\n")}\nreturn boot(send, ${JSON.stringify(web)}); })`;
}

/** Without what is only for modules and for readers. @param {string} name */
function readModule(name) {
  const text = readFileSync(new URL(`../guest/${name}.mjs`, import.meta.url), "utf8");
  return text
    .replace(/^import [^;]*;$/gm, "")
    .replace(/^export /gm, "")
    .replace(/^ *\/\*\*[^]*?\*\/\n/gm, "");
}
