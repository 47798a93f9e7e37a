import { v5 as nameBasedId } from "uuid";
import { stripInvisible } from "../base/visible.ts";
import type { Tx } from "../db/client.ts";
import { type Asker, OWNER } from "./scope.ts";

const AGENT_NAMESPACE = "c1b7a2de-64a5-5d0e-9a55-2f7d1f0f3b68";
const LONGEST_AGENT_NAME = 100;

/**
 * Id of the caller in records, versions and audit entries: the principal, or the agent that acts with the owner's
 * token; null for the owner without a named client.
 */
export function authorId({ principal, client }: Asker): string | null {
  if (principal !== OWNER) return principal;
  const name = agentName(client);
  return name === undefined ? null : nameBasedId(name, AGENT_NAMESPACE);
}

/** Stores the agent's name under its id, for the creator and updater of records. Principals are stored when they call. */
export async function introduceAgent(tx: Tx, asker: Asker): Promise<void> {
  const [id, name] = [authorId(asker), agentName(asker.client)];
  if (id === null || name === undefined || asker.principal !== OWNER) return;
  await tx
    .insertInto("principals")
    .values({ org: asker.scope.org, id, kind: "agent", name })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

/**
 * Strips parentheses, so that no agent can take a principal's name, which is `subject (issuer)`, and characters by which
 * two agents could look alike.
 */
function agentName(client: string | undefined): string | undefined {
  if (client === undefined) return undefined;
  const name = stripInvisible(client.replace(/[()\n\t]/g, ""))
    .trim()
    .slice(0, LONGEST_AGENT_NAME)
    .toWellFormed();
  return name === "" ? undefined : name;
}
