// Runs after `npm ci` in a checkout. Plain JavaScript that may do nothing: without the pinned Node (--ignore-scripts)
// an older one runs it, and the product then prepares its database at the first start.
if (Number(process.versions.node.split(".")[0]) >= 24) await import("./build-template.ts");
