import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

/** Opens UTCP code-mode from its install folder, connected to one server under the name `everything`. */
export async function openUtcp(prefix, command, args) {
  const from = createRequire(join(prefix, "package.json"));
  const load = (name) => import(pathToFileURL(from.resolve(name)).href);
  // It prints every call to stdout.
  console.log = () => undefined;
  const { CodeModeUtcpClient } = await load("@utcp/code-mode");
  await load("@utcp/mcp");
  const client = await CodeModeUtcpClient.create();
  const everything = { transport: "stdio", command, args };
  await client.registerManual({
    name: "manual",
    call_template_type: "mcp",
    config: { mcpServers: { everything } },
  });
  /** It reports a failure only in its logs. */
  const run = async (code) => {
    const { result, logs } = await client.callToolChain(code);
    if (result === null) throw new Error(`UTCP: ${logs.join("; ")}`);
    return result;
  };
  return { run, from };
}
