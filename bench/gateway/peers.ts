/** Other gateways, installed on demand into a cache folder; they are compared with, never depended on. */
import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { cacheFolder } from "../../test/support/cache-folder.ts";

const PACKAGES = ["mcp-hub@4.2.1", "mcp-proxy@6.7.19", "supergateway@4.0.0"];

/** The folder of their commands. */
export function installPeers(): string {
  const prefix = cacheFolder("bench-peers");
  const commands = join(prefix, "node_modules", ".bin");
  if (!existsSync(join(commands, "supergateway"))) {
    execFileSync("npm", ["install", "--prefix", prefix, "--no-save", "--ignore-scripts", ...PACKAGES], {
      stdio: ["ignore", 2, 2],
    });
  }
  return commands;
}
