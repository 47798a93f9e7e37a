/** Popular servers at exact versions, each with a call whose effect is visible from outside. */
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { McpServerEntry } from "../../src/config/schema.ts";

/** Calls a tool under its own name and returns its text and structured content as one string. */
type CallRealTool = (tool: string, input: Record<string, unknown>) => Promise<string>;

export interface RealServer {
  readonly name: string;
  readonly pin: string;
  /** `bin` is the folder of its command, `folder` its own. */
  readonly entry: (bin: string, folder: string) => McpServerEntry;
  /** Makes a call and returns its effect; throws if there is none. Without it the server is only listed. */
  readonly prove?: (call: CallRealTool, folder: string) => Promise<string>;
}

function node(bin: string, command: string, ...args: string[]): McpServerEntry {
  return { command: process.execPath, args: [join(bin, command), ...args] };
}

function assert(holds: boolean, what: string): string {
  if (!holds) throw new Error(`not so: ${what}`);
  return what;
}

/** The smallest valid PDF. */
const PDF =
  "%PDF-1.1\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n2 0 obj<</Type/Pages/Kids[]/Count 0>>endobj\ntrailer<</Root 1 0 R>>\n%%EOF\n";

const REFERENCE = "2026.8.31";

export const REAL_SERVERS: readonly RealServer[] = [
  {
    name: "filesystem",
    pin: `@modelcontextprotocol/server-filesystem@${REFERENCE}`,
    entry: (bin, folder) => node(bin, "mcp-server-filesystem", folder),
    async prove(call, folder) {
      const path = join(folder, "note.txt");
      await call("write_file", { path, content: "kept" });
      return assert(readFileSync(path, "utf8") === "kept", "the file is there");
    },
  },
  {
    name: "memory",
    pin: `@modelcontextprotocol/server-memory@${REFERENCE}`,
    entry: (bin, folder) => ({
      ...node(bin, "mcp-server-memory"),
      env: { MEMORY_FILE_PATH: join(folder, "memory.jsonl") },
    }),
    async prove(call, folder) {
      const entities = [{ name: "Ada", entityType: "person", observations: ["writes programs"] }];
      await call("create_entities", { entities });
      const stored = readFileSync(join(folder, "memory.jsonl"), "utf8");
      return assert(stored.includes("Ada") && (await call("read_graph", {})).includes("Ada"), "the entity is stored");
    },
  },
  {
    name: "everything",
    pin: `@modelcontextprotocol/server-everything@${REFERENCE}`,
    entry: (bin) => node(bin, "mcp-server-everything"),
    prove: async (call) => assert((await call("get-sum", { a: 2, b: 3 })).includes("is 5"), "2 + 3 is 5"),
  },
  {
    name: "thinking",
    pin: `@modelcontextprotocol/server-sequential-thinking@${REFERENCE}`,
    entry: (bin) => node(bin, "mcp-server-sequential-thinking"),
    async prove(call) {
      const thought = { thought: "first", nextThoughtNeeded: true, thoughtNumber: 1, totalThoughts: 2 };
      await call("sequentialthinking", thought);
      const second = await call("sequentialthinking", { ...thought, thoughtNumber: 2, nextThoughtNeeded: false });
      return assert(/"thoughtHistoryLength":\s*2/.test(second), "it remembers two thoughts");
    },
  },
  {
    name: "git",
    pin: "@cyanheads/git-mcp-server@2.15.3",
    entry: (bin) => ({
      ...node(bin, "git-mcp-server"),
      env: { MCP_TRANSPORT_TYPE: "stdio", GIT_COMMITTER_NAME: "Ada", GIT_COMMITTER_EMAIL: "ada@example.com" },
    }),
    async prove(call, folder) {
      const path = join(folder, "repository");
      mkdirSync(path);
      await call("git_init", { path });
      writeFileSync(join(path, "a.txt"), "a");
      await call("git_add", { path, paths: ["a.txt"] });
      await call("git_commit", { path, message: "the first one", author: { name: "Ada", email: "ada@example.com" } });
      const log = execFileSync("git", ["-C", path, "log", "--format=%an %s"], { encoding: "utf8" });
      return assert(log === "Ada the first one\n", "the commit exists");
    },
  },
  {
    name: "shell",
    pin: "mcp-server-commands@0.5.0",
    entry: (bin) => node(bin, "mcp-server-commands"),
    async prove(call, folder) {
      await call("run_command", { command: "printf done > made", workdir: folder });
      return assert(readFileSync(join(folder, "made"), "utf8") === "done", "the command ran");
    },
  },
  {
    name: "pdf",
    pin: "@modelcontextprotocol/server-pdf@2.0.4",
    entry(bin, folder) {
      writeFileSync(join(folder, "a.pdf"), PDF);
      return node(bin, "mcp-pdf-server", "--stdio", join(folder, "a.pdf"));
    },
    async prove(call, folder) {
      const read = await call("read_pdf_bytes", { url: join(folder, "a.pdf") });
      return assert(read.includes(Buffer.from(PDF).toString("base64")), "the file's bytes came back");
    },
  },
  {
    name: "excalidraw",
    pin: "excalidraw-mcp@1.0.0",
    entry: (bin) => node(bin, "excalidraw-mcp"),
    async prove(call) {
      await call("create_element", { type: "ellipse", x: 17, y: 4, width: 10, height: 10 });
      const found = await call("query_elements", { type: "ellipse" });
      return assert(/"x":\s*17/.test(found), "the drawn element is found");
    },
  },
  { name: "context7", pin: "@upstash/context7-mcp@4.1.1", entry: (bin) => node(bin, "context7-mcp") },
  { name: "playwright", pin: "@playwright/mcp@0.0.83", entry: (bin) => node(bin, "playwright-mcp") },
  {
    name: "notion",
    pin: "@notionhq/notion-mcp-server@2.5.2",
    entry: (bin) => ({ ...node(bin, "notion-mcp-server"), env: { NOTION_TOKEN: "ntn_dummy" } }),
  },
];

/** Has to be compiled; where that fails, PostgreSQL takes its place. */
export const SQLITE: RealServer = {
  name: "sqlite",
  pin: "mcp-server-sqlite-npx@0.8.0",
  entry: (bin, folder) => node(bin, "mcp-server-sqlite-npx", join(folder, "a.db")),
  async prove(call, folder) {
    await call("create_table", { query: "CREATE TABLE t (n INTEGER)" });
    await call("write_query", { query: "INSERT INTO t VALUES (42)" });
    const read = await call("read_query", { query: "SELECT n FROM t" });
    const database = new DatabaseSync(join(folder, "a.db"), { readOnly: true });
    const row = database.prepare("SELECT n FROM t").get();
    database.close();
    return assert(read.includes("42") && row?.["n"] === 42, "the row is in the file, and is read");
  },
};

export function postgresServer(url: string): RealServer {
  return {
    name: "postgres",
    pin: "@modelcontextprotocol/server-postgres@0.6.2",
    entry: (bin) => node(bin, "mcp-server-postgres", url),
    prove: async (call) =>
      assert((await call("query", { sql: "SELECT 6 * 7 AS answer" })).includes("42"), "a row is read"),
  };
}
