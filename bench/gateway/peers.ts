/** Other gateways, for comparison only, never a dependency. */
import { join } from "node:path";
import { installPackages } from "../../test/support/installed-packages.ts";

const PACKAGES = ["mcp-hub@4.2.1", "mcp-proxy@6.7.19", "supergateway@4.0.0"];

/** Returns the folder of their commands. */
export async function installPeers(): Promise<string> {
  return join(await installPackages("bench-peers", PACKAGES), ".bin");
}
