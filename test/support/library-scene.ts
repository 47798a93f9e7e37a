import type { Client } from "@modelcontextprotocol/client";
import { afterAll, beforeAll } from "vitest";
import { execute } from "./execute.ts";
import { connectClient } from "./mcp-client.ts";
import { callJson, type NamesHome, startNamesGateway } from "./names-scene.ts";

/** Capabilities of every effect, by their names. */
export const PROGRAMS = {
  "fs:read_json": `const { path } = args; return { path, text: "{}" };`,
  "fs:write_json": `return await mcp.counting.put({ key: args.key });`,
  "api:fetch_user": `return (await mcp.counting.list({ length: 1 })).items;`,
  "api:drop_user": `return await mcp.counting.drop({ key: args.key });`,
  "transform:validate_schema": `return { valid: args.text.length > 0, path: args.path };`,
};

export interface SharedLibrary {
  readonly home: NamesHome;
  readonly client: Client;
  /** Calls a tool that answers JSON, and throws where it fails. */
  call<T = Record<string, unknown>>(name: string, input?: Record<string, unknown>): Promise<T>;
}

/** A gateway that lists everything and has learned the programs above, for all tests of a file. */
export function shareLibrary(): SharedLibrary {
  const stack = new AsyncDisposableStack();
  let home: NamesHome;
  let client: Client;
  beforeAll(async () => {
    home = stack.use(await startNamesGateway({ gateway: { exposure: "full" } }));
    // one of the current protocol would keep its lists until it is told of a change
    ({ client } = stack.use(await connectClient(home.path, { transport: "http" })));
    for (const [name, code] of Object.entries(PROGRAMS)) {
      const args = { path: "a.json", key: "k", text: "{}" };
      const answer = await execute(client, { code, args, name, description: `Does ${name}`, tags: ["json"] });
      if (answer.status !== "success") throw new Error(JSON.stringify(answer));
    }
  });
  afterAll(() => stack.disposeAsync());
  return {
    get home() {
      return home;
    },
    get client() {
      return client;
    },
    async call<T = Record<string, unknown>>(name: string, input: Record<string, unknown> = {}): Promise<T> {
      const { value, isError, text } = await callJson<T>(client, name, input);
      if (isError) throw new Error(text);
      return value;
    },
  };
}
