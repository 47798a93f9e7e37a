import type { ServerJson } from "./server-json.ts";

/** Command that starts a packaged server; contains no values that users fill in. */
interface LaunchCommand {
  readonly command: string;
  readonly args: readonly string[];
}

/** Module text behind a `code_url`: the server's description, and its launch command if it is a package. */
export function toModule(document: ServerJson): string {
  const launch = findLaunch(document);
  return [
    `export const server = ${JSON.stringify(document, null, 2)};`,
    `export const launch = ${launch === undefined ? "undefined" : JSON.stringify(launch, null, 2)};`,
    "export default server;",
    "",
  ].join("\n");
}

function findLaunch({ packages = [] }: ServerJson): LaunchCommand | undefined {
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
