import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";

interface SeenRequest {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Record<string, unknown>;
}

interface Reply {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: string;
  /** Never answers. */
  readonly hang?: true;
}

/** A loopback server that imitates the API of a language model. */
export interface ModelServer extends AsyncDisposable {
  readonly url: string;
  readonly seen: readonly SeenRequest[];
}

export async function startModelServer(reply: (request: SeenRequest, count: number) => Reply): Promise<ModelServer> {
  const seen: SeenRequest[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const body = JSON.parse(Buffer.concat(chunks).toString("utf8")) as Record<string, unknown>;
      const one = { path: request.url ?? "", headers: request.headers, body };
      seen.push(one);
      const { status = 200, headers = {}, body: text, hang } = reply(one, seen.length);
      if (hang !== true) response.writeHead(status, { "content-type": "application/json", ...headers }).end(text);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    seen,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Formats an answer of Anthropic's messages API. */
export function anthropicMessage(text: string): string {
  return JSON.stringify({
    id: "msg_01",
    type: "message",
    role: "assistant",
    model: "claude-haiku-4-5",
    content: [{ type: "text", text }],
    stop_reason: "end_turn",
    stop_sequence: null,
    usage: { input_tokens: 12, output_tokens: 6 },
  });
}

/** Formats an answer of chat completions. */
export function chatCompletion(text: string): string {
  return JSON.stringify({
    id: "chatcmpl-1",
    object: "chat.completion",
    created: 1,
    model: "any",
    choices: [{ index: 0, message: { role: "assistant", content: text }, finish_reason: "stop" }],
    usage: { prompt_tokens: 12, completion_tokens: 6, total_tokens: 18 },
  });
}
