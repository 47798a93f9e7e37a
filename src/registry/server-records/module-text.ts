import type { ServerJson } from "./server-json.ts";

/** What a program needs to start a server of a package: nothing that the user has to fill in is in it. */
interface Launch {
  readonly command: string;
  readonly args: readonly string[];
}

/** The module behind a `code_url`: the server's description, and how to start it where it is a package. */
export function toModule(document: ServerJson): string {
  const launch = findLaunch(document);
  return [
    `export const server = ${JSON.stringify(document, null, 2)};`,
    `export const launch = ${launch === undefined ? "undefined" : JSON.stringify(launch, null, 2)};`,
    "export default server;",
    "",
  ].join("\n");
}

function findLaunch({ packages = [] }: ServerJson): Launch | undefined {
  for (const { registryType, identifier, version } of packages) {
    if (registryType === "npm") return { command: "npx", args: ["-y", join(identifier, "@", version)] };
    if (registryType === "pypi") return { command: "uvx", args: [join(identifier, "==", version)] };
    if (registryType === "oci")
      return { command: "docker", args: ["run", "-i", "--rm", join(identifier, ":", version)] };
  }
  return undefined;
}

function join(identifier: string, separator: string, version: string | undefined): string {
  return version === undefined ? identifier : `${identifier}${separator}${version}`;
}
