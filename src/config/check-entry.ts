import { PmlError } from "../base/errors.ts";
import { configSchema, type McpServerEntry } from "./schema.ts";

/** Validates a server entry as if it were in the file; throws the error that reading it would give. */
export function checkServerEntry(name: string, entry: unknown): McpServerEntry {
  const parsed = configSchema.safeParse({ mcpServers: { [name]: entry } });
  const checked = parsed.success ? parsed.data.mcpServers?.[name] : undefined;
  if (checked !== undefined) return checked;
  const issue = parsed.error?.issues[0];
  const reason = issue?.code === "invalid_key" ? (issue.issues[0]?.message ?? issue.message) : issue?.message;
  throw new PmlError("config_invalid", `The server "${name}" cannot be added: ${reason ?? "it is not valid"}`, {
    hint: "For example: pml add files -- npx -y @modelcontextprotocol/server-filesystem /data",
  });
}
