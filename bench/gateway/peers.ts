/** Other gateways; they are compared with, never depended on. */
import { join } from "node:path";
import { installPackages } from "../../test/support/installed-packages.ts";

const PACKAGES = ["mcp-hub@4.2.1", "mcp-proxy@6.7.19", "supergateway@4.0.0"];

/** The folder of their commands. */
export async function installPeers(): Promise<string> {
  return join(await installPackages("bench-peers", PACKAGES), ".bin");
}
