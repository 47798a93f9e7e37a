import type { IncomingMessage, ServerResponse } from "node:http";
import { McpServer } from "@modelcontextprotocol/server";
import type { LoginServer } from "./login-server.ts";
import { type RemoteServer, startRemoteServer } from "./remote-server.ts";

/** A remote server that requires a token of the authorization server; `write` needs a further scope. */
export async function startProtectedServer(
  authority: LoginServer,
  era: "current" | "2025" = "current",
): Promise<RemoteServer> {
  const intercept = async (request: IncomingMessage, response: ServerResponse): Promise<boolean> => {
    const metadata = `${remote.origin}/.well-known/oauth-protected-resource/mcp`;
    if (request.url?.startsWith("/.well-known/oauth-protected-resource")) {
      const document = { resource: remote.url, authorization_servers: [authority.issuer] };
      response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(document));
      return true;
    }
    const scope = authority.scopeOf((request.headers.authorization ?? "").replace(/^Bearer /, ""));
    const refuse = (status: number, challenge: string): boolean => {
      response.writeHead(status, { "www-authenticate": `Bearer resource_metadata="${metadata}", ${challenge}` }).end();
      return true;
    };
    if (scope === undefined) return refuse(401, `scope="read"`);
    const writes = request.headers["mcp-name"] === "write" && !scope.split(" ").includes("write");
    return writes ? refuse(403, `error="insufficient_scope", scope="write"`) : false;
  };
  const remote = await startRemoteServer({ era, create: createServer, intercept });
  return remote;
}

function createServer(): McpServer {
  const mcp = new McpServer({ name: "protected", version: "1.0.0" });
  for (const name of ["read", "write"]) {
    mcp.registerTool(name, { description: "Does it" }, () => ({ content: [{ type: "text", text: `${name} done` }] }));
  }
  return mcp;
}
