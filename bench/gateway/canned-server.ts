/** Answers MCP over HTTP with next to no work: measures the client's part, the lower bound for every gateway. */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";

interface JsonRpcRequest {
  readonly id?: number;
  readonly method: string;
  readonly params?: { readonly arguments?: { readonly message?: string } };
}

function resultOf({ method, params }: JsonRpcRequest): object {
  if (method !== "initialize") return { content: [{ type: "text", text: `Echo: ${params?.arguments?.message}` }] };
  const serverInfo = { name: "canned", version: "1.0.0" };
  return { protocolVersion: "2025-11-25", capabilities: { tools: {} }, serverInfo };
}

function answer(text: string, response: ServerResponse): void {
  const request = JSON.parse(text) as JsonRpcRequest;
  if (request.id === undefined) {
    response.writeHead(202).end();
    return;
  }
  const body = JSON.stringify({ jsonrpc: "2.0", id: request.id, result: resultOf(request) });
  response.writeHead(200, { "Content-Type": "application/json", "Content-Length": Buffer.byteLength(body) }).end(body);
}

createServer((request: IncomingMessage, response: ServerResponse) => {
  if (request.method !== "POST") {
    response.writeHead(405).end();
    return;
  }
  let text = "";
  request.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
  request.once("end", () => answer(text, response));
}).listen(Number(process.env["PORT"]), "127.0.0.1");
