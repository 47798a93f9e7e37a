import { expect, test } from "vitest";
import { parsePermissionsFile } from "./permissions-file.ts";
import { decide } from "./rule-model.ts";

const FILE = `# what our servers may do
filesystem:
  scope: filesystem
  approvalMode: auto
  routing: local
shell: { approvalMode: hil, routing: local }
github:
  approvalMode: HIL
  routing: cloud
  tools:
    list_issues:
      approvalMode: auto
      effect: read
    "delete_*": { approvalMode: deny }
archive:
  approvalMode: deny
  tools:
    look: { approvalMode: auto }
"srv-*":
  effect: write
docs: { scope: readonly }
`;

function decideBy(text: string, id: string) {
  const rules = parsePermissionsFile("/p/f.yaml", text);
  return decide({ kind: "usable", rules }, { id, schemaHash: "s", annotations: {} }, { remembered: [] });
}

test.each([
  ["filesystem:write_file", "allow", "local", "destructive", "/p/f.yaml:4"],
  ["shell:run", "ask", "local", "destructive", "/p/f.yaml:6"],
  ["github:create_issue", "ask", "cloud", "destructive", "/p/f.yaml:8"],
  ["github:list_issues", "allow", "cloud", "read", "/p/f.yaml:12"],
  ["github:delete_repo", "deny", "cloud", "destructive", "/p/f.yaml:14"],
  ["archive:look", "deny", "cloud", "destructive", "/p/f.yaml:16"],
  ["srv-1:put", "ask", "cloud", "write", "the tool's effect"],
  ["docs:write", "deny", "cloud", "destructive", "/p/f.yaml:21"],
  ["other:tool", "ask", "cloud", "destructive", "the tool's effect"],
])("%s: %s, %s, %s by %s", (id, decision, routing, effect, at) => {
  const verdict = decideBy(FILE, id);
  expect(verdict).toMatchObject({ decision, routing, effect, source: { at } });
});

test("servers may stand below a key of their own, and lists of patterns beside them", () => {
  const text = `servers:\n  a:\n    approvalMode: ask\nallow: ["b:*", a]\ndeny:\n  - b:drop\n`;
  expect(decideBy(text, "a:x")).toMatchObject({ decision: "ask", source: { at: "/p/f.yaml:3" } });
  expect(decideBy(text, "b:x")).toMatchObject({ decision: "allow", source: { at: "/p/f.yaml:4" } });
  expect(decideBy(text, "b:drop")).toMatchObject({ decision: "deny", source: { at: "/p/f.yaml:6" } });
});

test("an alias is located where its anchor stands", () => {
  const text = `a: &careful\n  approvalMode: deny\nb: *careful\n`;
  expect(decideBy(text, "b:x")).toMatchObject({ decision: "deny", source: { at: "/p/f.yaml:2" } });
});

test.each([
  ["", "/p/f.yaml:1 is empty"],
  ["# nothing yet\n", "/p/f.yaml:1 is empty"],
  [
    "a:\n  approvalMode: auto\n scope: x\n",
    "/p/f.yaml:3 is not valid YAML: all mapping items must start at the same column",
  ],
  ["a: {}\na: {}\n", "/p/f.yaml:2 is not valid YAML: map keys must be unique"],
  ["a: {}\n---\nb: {}\n", "/p/f.yaml:2 is not valid YAML: source contains multiple documents"],
  ["a: !!js/function x\n", "/p/f.yaml:1 is not valid YAML: unresolved tag"],
  ["a: *b\n", "/p/f.yaml:1 cannot be read: Unresolved alias"],
  ["- a\n", `/p/f.yaml:1 "": invalid input: expected record, received array`],
  ["a:\n  approvalmode: deny\n", `/p/f.yaml:2 "a.approvalmode" is not a known key; did you mean "approvalMode"?`],
  ["a:\n  tools:\n    t:\n      tools: {}\n", `/p/f.yaml:4 "a.tools.t.tools" is not a known key; known keys are scope`],
  ["a:\n  approvalMode: denied\n", `/p/f.yaml:2 "a.approvalMode": invalid option: expected one of "auto"|"allow"|`],
  ["a:\n  routing: moon\n", `/p/f.yaml:2 "a.routing": invalid option: expected one of "local"|"cloud"`],
  ["a: deny\n", `/p/f.yaml:1 "a": invalid input: expected object, received string`],
  ["a:\n", `/p/f.yaml:1 "a": invalid input: expected object, received null`],
  ["b: {}\nGit/Hub: {}\n", `/p/f.yaml:2 "Git/Hub" names no server`],
  ["deny:\n  - a:b\n  - a__c\n", `/p/f.yaml:3 "a__c" names no server: write server:tool, server:* or *`],
  ["deny:\n  - 'a:'\n", `/p/f.yaml:2 "a:" names no tool`],
])("the file %j is refused: %s", (text, message) => {
  let error: unknown;
  try {
    parsePermissionsFile("/p/f.yaml", text);
  } catch (caught) {
    error = caught;
  }
  expect(error).toMatchObject({
    code: "permissions_broken",
    message: expect.stringContaining(message),
    hint: expect.stringContaining("Fix it or remove it"),
  });
  expect(error).toMatchObject({ message: expect.stringContaining("Nothing is permitted until this is fixed") });
});
