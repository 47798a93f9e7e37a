import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Client } from "@modelcontextprotocol/client";
import { afterAll, beforeAll } from "vitest";
import { makeFolder } from "./folder.ts";
import { connectClient } from "./mcp-client.ts";
import { type RemoteGateway, startRemoteGateway } from "./remote-gateway.ts";
import { servers } from "./upstream-servers.ts";

/** One gateway and its callers: the owner's agent, two principals, and one with the scope of admins. */
export interface Principals {
  readonly gateway: RemoteGateway;
  readonly owner: Client;
  readonly ada: Client;
  readonly bob: Client;
  readonly admin: Client;
}

export const ADMIN_SCOPE = "pml:admin";

interface SceneOptions {
  readonly config?: Record<string, unknown>;
  /** Content of the file of a scripted server, which then is behind the gateway as well. */
  readonly script?: object;
}

/** Shares one gateway in front of a counting server between the tests of a file. */
export function sharePrincipals({ config = {}, script }: SceneOptions = {}): () => Principals {
  const stack = new AsyncDisposableStack();
  let scene: Principals;
  beforeAll(async () => {
    const work = stack.use(await makeFolder());
    const file = join(work.path, "calls.txt");
    writeFileSync(file, "");
    const told = join(work.path, "script.json");
    writeFileSync(told, JSON.stringify(script ?? {}));
    const gateway = stack.use(
      await startRemoteGateway(
        { counting: servers.counting(file), ...(script === undefined ? {} : { scripted: servers.scripted(told) }) },
        {
          config: { permissions: { allow: ["counting:*"] }, ...config },
          auth: { adminScope: ADMIN_SCOPE },
        },
      ),
    );
    await gateway.home.ready("counting", ...(script === undefined ? [] : ["scripted"]));
    const as = async (sub: string, scope = "mcp"): Promise<Client> =>
      stack.use(await gateway.connect(await gateway.issuer.sign({ sub, scope }), "auto"));
    const { client: owner } = stack.use(await connectClient(gateway.home.path));
    scene = {
      gateway,
      owner,
      ada: await as("ada"),
      bob: await as("bob"),
      admin: await as("eve", `mcp ${ADMIN_SCOPE}`),
    };
  });
  afterAll(() => stack.disposeAsync());
  return () => scene;
}
