import { readFileSync } from "node:fs";
import { INSTANCES, type Template } from "./templates.ts";

type Intents = Readonly<Record<string, readonly string[]>>;

/** Reads what people ask for, one text per instance. They were written without knowledge of the code. */
export function readIntents(templates: readonly Template[]): Intents {
  const intents = JSON.parse(readFileSync(new URL("intents.json", import.meta.url), "utf8")) as Intents;
  const incomplete = templates.find(({ id }) => intents[id]?.length !== INSTANCES);
  if (incomplete !== undefined) throw new Error(`${incomplete.id} needs ${INSTANCES} intents`);
  return intents;
}
