// After `npm ci` in a checkout. Plain JavaScript, and content with doing nothing: where the pinned Node was not
// installed (--ignore-scripts), this runs in an older one, and the product then prepares its database at the first start.
if (Number(process.versions.node.split(".")[0]) >= 24) await import("./build-template.ts");
