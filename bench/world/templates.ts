import { readFileSync } from "node:fs";
import type { JsonObject } from "../../src/base/json.ts";
import { Draw } from "./draw.ts";
import { drawInstances } from "./instances.ts";
import { seedWorld } from "./seed.ts";

/** A task that comes up again and again with other values. */
export interface Template {
  readonly id: string;
  readonly description: string;
  /** A template with the same sequence of tools that does something else. */
  readonly twin: string | undefined;
  /** The solution; it reads its values from `args`. */
  readonly program: string;
  /** The values of each instance. */
  readonly instances: readonly JsonObject[];
}

export const INSTANCES = 5;
const TWIN = "// twin: ";

/** Reads entries of `=== id`, description, twin, program, and draws their instances. */
export function readTemplates(): Template[] {
  const text = readFileSync(new URL("programs.txt", import.meta.url), "utf8");
  return text.split(/^=== /m).slice(1).map(readTemplate);
}

function readTemplate(entry: string): Template {
  const [id = "", ...lines] = entry.trimEnd().split("\n");
  const start = lines.findIndex((line) => !line.startsWith("//"));
  const [description = "", twin] = lines.slice(0, start);
  const drawInstance = drawInstances[id];
  if (drawInstance === undefined) throw new Error(`Nothing draws the instances of ${id}`);
  const draw = new Draw(seedWorld(), id);
  return {
    id,
    description: description.slice("// ".length),
    twin: twin?.slice(TWIN.length),
    program: lines.slice(start).join("\n"),
    instances: Array.from({ length: INSTANCES }, (_, index) => drawInstance(draw, index)),
  };
}
