import { expect, it } from "vitest";
import { findAnchors, findFileNames, findLinks, findPaths } from "./document-references.ts";

const page = `# Names & records

See [storage](storage.md#opening), [the site](https://example.com/docs/a.md) and \`[a](b.md)\`.
The code is in \`src/registry/names.ts\`, \`src/db/*-tables.ts\` and src/db. Also \`note-store.ts\` and \`docs/<topic>.md\`.

\`\`\`ts
import "src/base/json.ts"; // [c](d.md)
# no heading
\`\`\`
`;

it("finds relative links outside of code", () => {
  expect(findLinks(page)).toEqual(["storage.md#opening"]);
});

it("finds paths without placeholders and sentence ends", () => {
  expect(findPaths(page)).toEqual(["src/registry/names.ts", "src/db/*-tables.ts", "src/db", "src/base/json.ts"]);
});

it("finds source files named without a folder", () => {
  expect(findFileNames(page)).toEqual(["note-store.ts"]);
});

it("derives anchors as GitHub does", () => {
  expect([...findAnchors(page)]).toEqual(["names--records"]);
});
