import { expect, test, vi } from "vitest";
import { PmlError } from "../../base/errors.ts";
import { createOauthFetch } from "./oauth-fetch.ts";

test.each([
  ["https://docs.example/mcp", "https://login.example/token", true],
  ["https://docs.example/mcp", "http://login.example/token", false],
  ["https://docs.example/mcp", "http://169.254.169.254/latest", false],
  ["https://docs.example/mcp", "http://127.0.0.1:7650/api/v1/shutdown", false],
  ["https://docs.example/mcp", "https://localhost/x", false],
  ["https://docs.example/mcp", "file:///etc/passwd", false],
  ["http://docs.internal/mcp", "http://docs.internal/token", true],
  ["http://docs.internal/mcp", "http://other.internal/token", false],
  ["http://127.0.0.1:4000/mcp", "http://127.0.0.1:5000/token", true],
  ["http://127.0.0.1:4000/mcp", "https://login.example/token", true],
])("a server at %s may send PML to %s: %s", async (server, url, allowed) => {
  const reached = vi.spyOn(globalThis, "fetch").mockResolvedValue(new Response());
  const outcome = await createOauthFetch(server)(url).then(
    () => "reached",
    (error: unknown) => (error instanceof PmlError ? error.code : error),
  );
  expect(reached).toHaveBeenCalledTimes(allowed ? 1 : 0);
  expect(outcome).toBe(allowed ? "reached" : "login_failed");
  reached.mockRestore();
});

test("what is posted is not carried on by a redirect", async () => {
  const reached = vi.spyOn(globalThis, "fetch").mockResolvedValue(new Response());
  await createOauthFetch("https://docs.example/mcp")("https://login.example/token", { method: "POST" });
  expect(reached.mock.calls[0]?.[1]).toMatchObject({ redirect: "error" });
  reached.mockRestore();
});
