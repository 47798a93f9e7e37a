import { expect, test } from "vitest";
import { createCoreTools } from "./own-tools.ts";
import { indexTools } from "../../catalogue/catalogue.ts";
import { buildSurface } from "../../catalogue/surface.ts";

const surface = buildSurface({
  tools: indexTools([]),
  servers: [],
  own: [],
  settings: { toolNames: "portable", exposure: "auto", maxListedTools: 40, pinned: [] },
});
// only a call would need it
const unused = undefined as never;

const definitions = createCoreTools({
  surface: () => surface,
  results: {
    keep: () => Promise.reject(new Error("not asked for here")),
    readPage: () => Promise.reject(new Error("not asked for here")),
  },
  maxResultBytes: () => 0,
  engine: unused,
  registry: unused,
  suggest: unused,
  outcomes: { ran: unused },
  discovery: unused,
  curator: unused,
  scope: { org: "local", project: "default" },
  approvalUrl: (id) => id,
}).map(({ definition }) => definition);

/** Agents and their prompts depend on these; a change here is one that users notice. */
test("PML's own tools, their order and their arguments", () => {
  const shapes = definitions.map(({ name, inputSchema, annotations, _meta }) => ({
    name,
    arguments: Object.keys(inputSchema.properties ?? {}),
    required: inputSchema.required,
    annotations,
    _meta,
  }));
  expect(shapes).toMatchInlineSnapshot(`
    [
      {
        "_meta": {
          "anthropic/alwaysLoad": true,
        },
        "annotations": {
          "destructiveHint": true,
          "openWorldHint": true,
          "readOnlyHint": false,
        },
        "arguments": [
          "intent",
          "code",
          "capability",
          "args",
          "context",
          "dag",
          "continue_workflow",
          "accept_suggestion",
          "name",
          "on_conflict",
          "version_tag",
          "change_summary",
          "description",
          "tags",
          "visibility",
          "options",
        ],
        "name": "pml_execute",
        "required": [
          "intent",
        ],
      },
      {
        "_meta": {
          "anthropic/alwaysLoad": true,
        },
        "annotations": {
          "openWorldHint": false,
          "readOnlyHint": true,
        },
        "arguments": [
          "intent",
          "filter",
          "limit",
          "offset",
          "detail",
          "format",
          "max_tokens",
          "include_code",
          "context_tags",
          "model",
        ],
        "name": "pml_discover",
        "required": [
          "intent",
        ],
      },
      {
        "_meta": {
          "anthropic/alwaysLoad": true,
        },
        "annotations": {
          "openWorldHint": false,
          "readOnlyHint": true,
        },
        "arguments": [
          "workflow_id",
          "task_id",
          "offset",
          "limit",
          "format",
        ],
        "name": "pml_get_task_result",
        "required": [
          "workflow_id",
          "task_id",
        ],
      },
      {
        "_meta": undefined,
        "annotations": {
          "openWorldHint": false,
          "readOnlyHint": true,
        },
        "arguments": [
          "namespace",
          "named_only",
          "pattern",
          "sort_by",
          "limit",
          "offset",
          "cursor",
        ],
        "name": "pml_list_capabilities",
        "required": undefined,
      },
      {
        "_meta": undefined,
        "annotations": {
          "destructiveHint": false,
          "openWorldHint": false,
          "readOnlyHint": false,
        },
        "arguments": [
          "strategy",
          "filter",
          "cursor",
          "renames",
          "rejects",
        ],
        "name": "pml_curate_capabilities",
        "required": undefined,
      },
    ]
  `);
});

test("PML's own tools cost an agent at most 1,500 tokens", () => {
  const shown = definitions.map(({ name, description, inputSchema }) => ({ name, description, inputSchema }));
  expect(JSON.stringify(shown).length / 4).toBeLessThanOrEqual(1500);
});
