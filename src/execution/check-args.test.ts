import { expect, test } from "vitest";
import { sampleCatalogue } from "../../test/support/tool-catalogue.ts";
import { analyseProgram } from "../analysis/analyse-program.ts";
import type { JsonSchema } from "../base/json.ts";
import { checkArguments } from "./check-args.ts";
import type { Runnable } from "./programs.ts";

/** A version that was stored with another schema than its text has today. */
function stored(code: string, parameters: JsonSchema): Runnable {
  const outcome = analyseProgram(code, sampleCatalogue);
  if (outcome.kind !== "program") throw new Error("no program");
  const capability = { displayName: "old:version", parameters } as Runnable["capability"];
  const { program } = outcome;
  return {
    capability,
    structure: program.structure,
    text: code,
    body: { kind: "code", program },
    parameters,
    warnings: [],
    notices: [],
  };
}

test("checkArguments is strict for a version whose schema does not say so yet", () => {
  const old = stored("return args.path", { type: "object", properties: { path: {} }, required: ["path"] });
  expect(() => checkArguments(old, { path: "a", pth: "b" })).toThrow(/old:version has no argument "pth".*"path"/);
  expect(checkArguments(old, { path: "a" })).toEqual({ path: "a" });
});

test("checkArguments takes a type that only an older inference refused", () => {
  const schema = { type: "object", properties: { status: { type: "array" } }, required: ["status"] };
  const old = stored("return args.status[0].toUpperCase() + args.status.slice(1)", schema);
  expect(checkArguments(old, { status: "open" })).toEqual({ status: "open" });
  expect(() => checkArguments(old, { status: 5 })).toThrow("args.status is 5, expected array");
});

test("checkArguments takes anything where the program uses args as a whole", () => {
  const whole = stored("return Object.keys(args)", { type: "object", properties: {} });
  expect(checkArguments(whole, { any: 1 })).toEqual({ any: 1 });
});
