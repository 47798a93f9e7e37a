import { v7 as newId } from "uuid";
import type { Scope } from "../../src/registry/scope.ts";
import { bumpScope } from "../../src/registry/scope-version-store.ts";
import type { Db } from "../../src/db/client.ts";
import type { Embedder } from "../../src/discovery/embedding/embedder.ts";
import { normalise } from "../../src/discovery/embedding/encoder/unit-vector.ts";
import { tokenizerPath } from "../../src/discovery/embedding/minilm-embedder.ts";
import { readStaticEmbedder } from "../../src/discovery/embedding/static-embedder.ts";
import { readWordpiece } from "../../src/discovery/embedding/wordpiece.ts";
import type { ProgramCall } from "../../src/discovery/recall/call-labels.ts";
import type { SearchDocument } from "../../src/discovery/search.ts";

const wordpiece = readWordpiece(tokenizerPath);
export const language = { wordpiece, lite: readStaticEmbedder(wordpiece) };

export function toolDocument(id: string, description: string): SearchDocument {
  const [server = "", name = ""] = id.split(":");
  return { id, kind: "tool", server, name, description, parameters: [], tags: [] };
}

export interface SeededCapability {
  readonly name: string;
  readonly description: string;
  readonly tags?: readonly string[];
  readonly visibility?: "private" | "project" | "org" | "public";
  readonly createdBy?: string;
  readonly calls?: readonly ProgramCall[];
}

/** Seeds an active capability with the columns that discovery reads. Returns its id in the graph. */
export async function seedFindable(db: Db, scope: Scope, wanted: SeededCapability): Promise<string> {
  const id = newId();
  const { org, project } = scope;
  const nodes = (wanted.calls ?? []).map(({ tool, argumentNames }) => ({
    type: "task",
    tool,
    arguments: Object.fromEntries(argumentNames.map((name) => [name, { type: "parameter", parameterName: name }])),
  }));
  await db.transaction().execute(async (tx) => {
    await tx
      .insertInto("capability_records")
      .values({
        org,
        project,
        id,
        fqdn: `${org}.${project}.util.${wanted.name}.${id}`,
        display_name: wanted.name,
        namespace: "util",
        action: wanted.name,
        hash: id.slice(-4),
        state: "active",
        description: wanted.description,
        tags: [...(wanted.tags ?? [])],
        visibility: wanted.visibility ?? "project",
        created_by: wanted.createdBy ?? null,
      })
      .execute();
    await tx
      .insertInto("capability_versions")
      .values({
        org,
        record_id: id,
        version: 1,
        source_kind: "code",
        code_snippet: "return 1;",
        source_hash: id,
        structure: JSON.stringify({ nodes, edges: [] }),
      })
      .execute();
    await bumpScope(tx, scope);
  });
  return `cap:${id}`;
}

/** A fake model: returns the vectors of a table, counts the calls, and can be slow to get ready. */
export class FakeModel implements Embedder {
  readonly id: string;
  readonly dimensions = 256;
  readonly texts: string[] = [];
  ready: boolean;
  failing = false;

  constructor(id = "fake", ready = true) {
    this.id = id;
    this.ready = ready;
  }

  async embed(texts: readonly string[]): Promise<Float32Array[]> {
    if (this.failing) throw new Error("no model");
    this.texts.push(...texts);
    return texts.map((text) => normalise(language.lite.embed(text)));
  }

  // eslint-disable-next-line class-methods-use-this
  prepare(): void {}

  [Symbol.asyncDispose](): Promise<void> {
    this.ready = false;
    return Promise.resolve();
  }
}
