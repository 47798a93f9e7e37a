import type { Catalogue } from "../catalogue/catalogue.ts";
import { OWNER, type Scope } from "../registry/scope.ts";
import type { Config } from "../config/load-config.ts";
import type { Db } from "../db/client.ts";
import type { Discovery } from "../discovery/discovery.ts";
import { createSuggest, type Suggest } from "../discovery/suggest.ts";
import { readKnownCapabilities, readPastRuns } from "../discovery/known-capability-store.ts";
import { Outcomes } from "../discovery/recall/outcomes.ts";
import { readEdges } from "../learning/edge-store.ts";
import type { Connectable } from "../learning/provides-edge-calculator.ts";
import { TemplateEdges } from "../learning/template-edges.ts";
import type { JsonSchema } from "../base/json.ts";
import { readOutputSchemas } from "../learning/learning-store.ts";
import type { Logger } from "../base/log.ts";

interface SuggestionParts {
  readonly config: Config;
  readonly scope: Scope;
  readonly db: Db;
  readonly tools: Catalogue;
  readonly discovery: Discovery;
  readonly log: Logger;
}

/** Suggests tools, capabilities and plans for an intent, and keeps the edges between tools up to date. */
export function openSuggestions(
  parts: SuggestionParts,
): { readonly suggest: Suggest; readonly outcomes: Outcomes } & AsyncDisposable {
  const { config, scope, db, tools, discovery, log } = parts;
  const stack = new AsyncDisposableStack();
  const templates = stack.use(
    new TemplateEdges({
      db,
      scope,
      readTools: () => describeTools(tools, (ids) => readOutputSchemas(db, scope, ids)),
      onError: (error) => log.warn({ error: String(error) }, "edges between tools could not be written"),
    }),
  );
  stack.defer(tools.onChange(() => templates.touch()));
  const outcomes = new Outcomes(db, scope);
  const suggest = createSuggest({
    findTool: (id) => tools.findById(id),
    searchFor: (principal) => (query, options) => discovery.search({ scope, principal }, query, options),
    readCapabilities: (principal = OWNER, ids) => readKnownCapabilities(db, { scope, principal }, ids),
    readRuns: (principal = OWNER, ids) => readPastRuns(db, { scope, principal }, ids),
    outcomes,
    readOutputSchemas: (ids) => readOutputSchemas(db, scope, ids),
    readEdges: (ids) => readEdges(db, scope, ids),
    runAbove: config.discovery.runAbove,
  });
  return {
    outcomes,
    suggest: (request) => {
      templates.touch(); // runs may have shown new shapes of results since
      return suggest(request);
    },
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}

/** Adds the shape of each tool's result: as declared by its server, else as observed. */
async function describeTools(
  { tools }: Catalogue,
  readSeen: (ids: readonly string[]) => Promise<ReadonlyMap<string, JsonSchema>>,
): Promise<Connectable[]> {
  const silent = tools.filter(({ outputSchema }) => outputSchema === undefined).map(({ id }) => id);
  const seen = await readSeen(silent);
  return tools.map(({ id, inputSchema, outputSchema = seen.get(id) }) => ({ id, inputSchema, outputSchema }));
}
