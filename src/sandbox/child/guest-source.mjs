// @ts-check
import { readFileSync } from "node:fs";

/** In the order in which they need each other. */
const CORE = ["intrinsics", "channel", "reach", "marks", "console", "determinism", "timers", "outcome", "boot"];
const WEB = ["encoding", "structured-clone", "abort", "url-parts", "url-search-params", "url", "web"];

/**
 * The guest's modules as one script, because an isolate has no module loader: an expression that evaluates to a function
 * of `send`. What is for the web comes in a function of its own, which the engine need not compile unless it is called.
 */
export function readGuestSource() {
  return `((send) => { "use strict";
${CORE.map(readModule).join("\n")}
return boot(send, (sleep) => {
${WEB.map(readModule).join("\n")}
return createWebGlobals(sleep);
});
})`;
}

/** @param {string} name */
function readModule(name) {
  const text = readFileSync(new URL(`../guest/${name}.mjs`, import.meta.url), "utf8");
  return text.replace(/^import [^;]*;$/gm, "").replace(/^export /gm, "");
}
