import { expect, test } from "vitest";
import { findSecrets } from "./secrets.ts";

test("findSecrets finds them by name, by form and in addresses", () => {
  const secrets = findSecrets({
    command: "x",
    args: [
      "--api-key",
      "k1",
      "--token=k2",
      "postgres://u:k3@h/db",
      "plain",
      "ghp_0123456789abcdef",
      "--password",
      "--x",
    ],
    env: { MY_TOKEN: "k4", PLAIN: "v", OPENAI: "sk-0123456789", AUTHOR: "me" },
    headers: { Authorization: "Bearer k5", "X-Trace": "1" },
    url: "https://a.example/mcp?api_key=k6&x=1",
  });
  expect(secrets).toEqual([
    { where: "env.MY_TOKEN", value: "k4" },
    { where: "env.OPENAI", value: "sk-0123456789" },
    { where: "headers.Authorization", value: "k5" },
    { where: "args[1]", value: "k1" },
    { where: "args[2]", value: "k2" },
    { where: "args[3]", value: "k3" },
    { where: "args[5]", value: "ghp_0123456789abcdef" },
    { where: "url", value: "k6" },
  ]);
});

test("findSecrets ignores references to variables", () => {
  expect(
    findSecrets({
      command: "x",
      args: ["--token", "${T}", "--key=${K}"],
      env: { TOKEN: "${TOKEN}" },
      headers: { Authorization: "Bearer ${T:-}" },
    }),
  ).toEqual([]);
});
