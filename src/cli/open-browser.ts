import { spawn } from "node:child_process";

const OPENERS: Partial<Record<NodeJS.Platform, readonly [string, ...string[]]>> = {
  darwin: ["open"],
  win32: ["rundll32", "url.dll,FileProtocolHandler"],
};

/** Opens an address in the user's browser. Failures go unnoticed, so callers print the address as well. */
export function openBrowser(url: string): void {
  const [command, ...args] = OPENERS[process.platform] ?? ["xdg-open"];
  const child = spawn(command, [...args, url], { stdio: "ignore", detached: true });
  child.on("error", () => undefined); // there is none
  child.unref();
}
