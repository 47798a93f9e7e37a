import type { Client } from "@modelcontextprotocol/client";
import type { ExecuteAnswer } from "../../src/contract/execute.ts";

type Member<Union, Key extends PropertyKey> = Union extends unknown
  ? Key extends keyof Union
    ? Exclude<Union[Key], undefined>
    : never
  : never;
type KeyOf<Union> = Union extends unknown ? keyof Union : never;
type Sometimes = "result" | "mode" | "error" | "approval" | "confidence" | "reason" | "logs";

/** The answer of pml_execute without its variants, so that a test need not tell them apart before each assertion. */
export type Executed = {
  readonly [Key in Exclude<KeyOf<ExecuteAnswer>, Sometimes>]: Member<ExecuteAnswer, Key>;
} & { readonly [Key in Sometimes]?: Member<ExecuteAnswer, Key> } & { readonly isError: boolean };

/** Calls pml_execute; returns a failure as an answer instead of throwing it. */
export async function execute(client: Client, request: Record<string, unknown>): Promise<Executed> {
  const result = await client.callTool({
    name: "pml_execute",
    arguments: { intent: "a test", ...request },
  });
  const [first] = result.content;
  const text = first?.type === "text" ? first.text : "{}";
  return { ...(JSON.parse(text) as Executed), isError: result.isError === true };
}
