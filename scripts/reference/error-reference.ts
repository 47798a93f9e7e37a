import { ERRORS, EXIT } from "../../src/base/errors.ts";

const EXIT_MEANING: Record<keyof typeof EXIT, string> = {
  ok: "it worked",
  failed: "it failed",
  usage: "the command line is wrong",
  notFound: "a name or version does not exist",
  needsPerson: "a person has to decide or sign in first",
  toolError: "the capability or tool returned an error",
  refused: "refused by a rule or a person",
  unreachable: "the daemon or a server does not answer",
  checkFailed: "a check found something wrong",
  interrupted: "interrupted",
};

export function renderErrorReference(): string {
  const exits = Object.entries(EXIT).map(([name, code]) => `| ${code} | ${EXIT_MEANING[name as keyof typeof EXIT]} |`);
  const errors = Object.entries(ERRORS).map(
    ([code, { id, exit, meaning }]) =>
      `<a id="${id.toLowerCase()}"></a>\n## ${id} ${code}\n\n${meaning} Exit code ${exit}.\n`,
  );
  return [
    "# Errors and exit codes\n",
    "Generated from `src/base/errors.ts`. Every error says what happened, with the values, and what to do next.\n",
    "| exit code | meaning |\n|---|---|",
    `${exits.join("\n")}\n`,
    errors.join("\n"),
  ].join("\n");
}
