import { expect, test } from "vitest";
import { findSecrets, secretValues } from "./secrets.ts";

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

test("findSecrets finds variables and headers in arguments, passwords in variables, and connection strings", () => {
  const args = [
    "run",
    "-e",
    "ACME_TOKEN=k1",
    "--env",
    "DB=postgres://u:k2:x@h/db",
    "--env=CLIENT_SECRET=k3",
    "-e",
    "A=b",
  ];
  const more = [
    "--header",
    "X-Api-Key: k4",
    "--config.token=k5",
    "Server=db;User=me;Password=k6;Pooling=true",
    "image:tag",
  ];
  const env = { DATABASE_URL: "postgres://u:k7@h/db", STORE: "AccountName=a;AccountKey=k8==", PLAIN: "a=b" };
  expect(findSecrets({ command: "docker", args: [...args, ...more], env }).map(({ value }) => value)).toEqual([
    "k7",
    "k8==",
    "k1",
    "k2:x",
    "k3",
    "k4",
    "k5",
    "k6",
  ]);
});

test("secretValues takes long values of the environment that no name explains, and leaves places and words", () => {
  const env = {
    ACME: "4f9c2d1e7a8b",
    TENANT_ID: "a8f5c1-k2m9x-q7z1",
    FOLDER: "/home/me/a1b2c3d4e5f6",
    MODE: "production",
  };
  const args = ["-e", "OTHER=9x8c7v6b5n4m", "-e", "REGION=eu-central-1", "--root=/srv/a1b2c3d4e5f6"];
  expect(secretValues({ command: "docker", args, env })).toEqual(["4f9c2d1e7a8b", "9x8c7v6b5n4m"]);
});
