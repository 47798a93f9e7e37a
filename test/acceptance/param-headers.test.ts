import { expect, test } from "vitest";
import { call, startGateway } from "../support/gateway-home.ts";
import { clientKinds, connectClient } from "../support/mcp-client.ts";
import { addressOf, currentRequest, sendRaw } from "../support/raw-http.ts";
import { startRemoteMirror } from "../support/remote-mirror.ts";

const input = { region: "Zürich", size: { rows: 3 } };
const encoded = "=?base64?WsO8cmljaA==?=";

test("arguments that a remote server wants as headers reach it so, whatever the client speaks", async () => {
  await using remote = await startRemoteMirror();
  await using home = await startGateway({ remote: { url: remote.url } });
  await home.ready("remote");
  for (const kind of clientKinds) {
    await using connected = await connectClient(home.path, kind);
    await connected.client.listTools();
    const { text, isError } = await call(connected.client, "remote__regional", input);
    expect(isError, text).toBe(false);
    expect(JSON.parse(text)).toMatchObject({ "mcp-param-region": encoded, "mcp-param-rows": "3" });
  }
});

test("a header that contradicts its argument is refused, under every spelling of the tool's name [mcp-11]", async () => {
  await using remote = await startRemoteMirror();
  await using home = await startGateway({ remote: { url: remote.url } });
  await home.ready("remote");
  const { url, authorization } = addressOf(home.path);
  const send = async (name: string, headers: Record<string, string>) => {
    const request = currentRequest("tools/call", { name, arguments: input });
    const answer = await sendRaw(url, { ...request, headers: { ...request.headers, ...headers, authorization } });
    return { status: answer.status, ...(JSON.parse(answer.text) as { error?: { code: number }; result?: unknown }) };
  };
  for (const name of ["remote__regional", "remote:regional"]) {
    const right = { "mcp-param-region": encoded, "mcp-param-rows": "3" };
    expect(await send(name, right)).toMatchObject({ status: 200, result: {} });
    expect(await send(name, { ...right, "mcp-param-rows": "4" })).toMatchObject({
      status: 400,
      error: { code: -32_020 },
    });
    expect(await send(name, { ...right, "mcp-param-region": "Zurich" })).toMatchObject({ error: { code: -32_020 } });
    expect(await send(name, { "mcp-param-rows": "3" })).toMatchObject({ status: 400, error: { code: -32_020 } });
  }
});
