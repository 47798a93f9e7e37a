import { existsSync } from "node:fs";
import { join } from "node:path";
import { type Client, CLIENTS } from "../client-config/client-table.ts";
import { type ClientConnection, describeConnection } from "../client-config/connection.ts";
import { describeLaunch } from "../client-config/launch.ts";
import { findConfigFolders } from "../client-config/config-folders.ts";
import { environment } from "../config/environment.ts";
import type { Finding } from "./finding.ts";

/** Checks for each client in use that its entry starts a PML that exists, and this one. */
export function checkClients(config: string | undefined): Finding[] {
  const folders = findConfigFolders(environment, process.cwd());
  const launch = describeLaunch(environment, config);
  const describe = (client: Client, scope: "user" | "project"): ClientConnection =>
    describeConnection(client, folders, { launch, scope });
  const users = CLIENTS.map((client) => describe(client, "user"));
  const projects = CLIENTS.filter(({ project }) => project.some((path) => existsSync(join(folders.project, path))))
    .map((client) => describe(client, "project"))
    // In the home folder some are the same file; a project without PML is not reported.
    .filter(({ path, state }) => state !== "absent" && !users.some((user) => user.path === path));
  return [
    ...users.filter(({ state }) => state !== "no-client").map((each) => toFinding(each, "")),
    ...projects.map((each) => toFinding(each, " --project")),
  ];
}

function toFinding({ client, path, state, name, problem = "" }: ClientConnection, flag: string): Finding {
  const check = `client ${client.id}`;
  const connect = `pml connect ${client.id}${flag}${name === undefined || name === "pml" ? "" : ` --name ${name}`}`;
  if (state === "connected") return { check, state: "ok", value: `connected as "${name}" in ${path}` };
  if (state === "absent") return { check, state: "ok", value: `not connected; connect it with: ${connect}` };
  const value = `${path}: ${problem}`;
  if (state === "other") return { check, state: "warning", value, fix: `To use this one: ${connect}` };
  return { check, state: "failure", value, fix: state === "broken" ? `Write it anew: ${connect}` : `Correct the file` };
}
