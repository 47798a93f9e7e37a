import type { NameSuggestion } from "../contract/curation.ts";
import type { routes } from "../contract/routes.ts";
import type { Sent } from "../contract/wire.ts";

type NameChoice = NonNullable<Sent<typeof routes.decideNames.body>["renames"]>[number];

export interface NameDecisions {
  readonly renames: readonly NameChoice[];
  readonly rejects: readonly string[];
}

/** Decisions about a page of proposals. */
export interface DecidedPage extends NameDecisions {
  /** The person wants to see no more. */
  readonly stopped: boolean;
}

/** Asks a person about each proposal: accept, reject, postpone, or give another name. */
export async function decideNames(
  suggestions: readonly NameSuggestion[],
  ask: (question: string) => Promise<string>,
): Promise<DecidedPage> {
  const renames: NameChoice[] = [];
  const rejects: string[] = [];
  for (const suggestion of suggestions) {
    const said = (await ask(toQuestion(suggestion))).trim();
    if (said === "q") return { renames, rejects, stopped: true };
    if (said === "y") renames.push({ id: suggestion.id, name: suggestion.suggestedName });
    else if (said === "n") rejects.push(suggestion.id);
    else if (said !== "") renames.push({ id: suggestion.id, name: said });
  }
  return { renames, rejects, stopped: false };
}

/** The default changes nothing. */
function toQuestion({ currentName, suggestedName, confidence, reasoning }: NameSuggestion): string {
  return `${currentName} → ${suggestedName}  ${confidence.toFixed(2)}\n  ${reasoning}\n  y: take it, n: never, another name, q: stop [later] `;
}
