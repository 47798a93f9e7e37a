import type { Client } from "@modelcontextprotocol/client";

interface Suggestion {
  readonly id: string;
  readonly currentName: string;
  readonly suggestedName: string;
  readonly confidence: number;
  readonly reasoning: string;
  readonly source: string;
}

/** The answer of pml_curate_capabilities, as loosely as an agent reads it. */
export interface Curated {
  readonly isError: boolean;
  readonly summary: string;
  readonly suggestions: readonly Suggestion[];
  readonly applied: readonly { readonly id: string; readonly oldName: string; readonly newName: string }[];
  readonly waiting: readonly Suggestion[];
  readonly failed: readonly {
    readonly id: string;
    readonly name: string;
    readonly code: string;
    readonly error: string;
  }[];
  readonly rejected: readonly string[];
  readonly warnings: readonly string[];
  readonly next_cursor: string | null;
}

export async function curate(
  client: Client,
  request: Record<string, unknown> = {},
  tool = "pml_curate_capabilities",
): Promise<Curated> {
  const { content, isError } = await client.callTool({ name: tool, arguments: request });
  const [first] = content;
  const text = first?.type === "text" ? first.text : "{}";
  return { ...(JSON.parse(text) as Curated), isError: isError === true };
}
