/**
 * The server that the official conformance suite expects behind an endpoint: its scenarios call tools, prompts and
 * resources by fixed names. It serves both protocol eras over stdio, or with --legacy that of 2025.
 */
import { McpServer } from "@modelcontextprotocol/server";
import { serveStdio, StdioServerTransport } from "@modelcontextprotocol/server/stdio";
import { addChangeTools } from "./fixture-changes.ts";
import { addPrompts } from "./fixture-prompts.ts";
import { addFormTools, addQuestionTools } from "./fixture-questions.ts";
import { addResources } from "./fixture-resources.ts";
import { addRoundTripTools, stateCodec } from "./fixture-round-trips.ts";
import { addContentTools, addReportingTools, addSchemaTools } from "./fixture-tools.ts";

function createFixture(): McpServer {
  const mcp = new McpServer(
    { name: "conformance-fixture", version: "1.0.0" },
    {
      capabilities: {
        tools: { listChanged: true },
        prompts: { listChanged: true },
        resources: { listChanged: true, subscribe: true },
        completions: {},
        logging: {},
      },
      requestState: { verify: (state, ctx) => stateCodec.verify(state, ctx) },
    },
  );
  addContentTools(mcp);
  addReportingTools(mcp);
  addSchemaTools(mcp);
  addQuestionTools(mcp);
  addFormTools(mcp);
  addRoundTripTools(mcp);
  addChangeTools(mcp);
  addPrompts(mcp);
  addResources(mcp);
  return mcp;
}

// Most servers only speak the 2025 era.
if (process.argv.includes("--legacy")) await createFixture().connect(new StdioServerTransport());
else serveStdio(createFixture);
