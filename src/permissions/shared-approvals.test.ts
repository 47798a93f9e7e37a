import { DEFAULT_SCOPE } from "../registry/scope.ts";
import { describe, expect, test } from "vitest";
import { approve as yes, askFor, openPermissions, refuse as no } from "../../test/support/approvals.ts";
import { createServerDatabase } from "../../test/support/databases.ts";
import { migrate } from "../db/migrate.ts";
import { openPostgres } from "../db/open-postgres.ts";

const scope = DEFAULT_SCOPE;

async function openGateways(
  count: number,
): Promise<{ gateways: Awaited<ReturnType<typeof openPermissions>>[] } & AsyncDisposable> {
  await using stack = new AsyncDisposableStack();
  const url = await createServerDatabase();
  const gateways = [];
  for (let index = 0; index < count; index += 1) {
    const client = stack.use(await openPostgres({ url, poolSize: 3 }));
    if (index === 0) await migrate(client.db);
    gateways.push(stack.use(await openPermissions(client)));
  }
  const opened = stack.move();
  return { gateways, [Symbol.asyncDispose]: () => opened.disposeAsync() };
}

describe("several gateways on one PostgreSQL server", () => {
  test("one of many concurrent decisions counts, and each gateway is notified once", async () => {
    await using opened = await openGateways(4);
    const { gateways } = opened;
    for (let round = 0; round < 10; round += 1) {
      const { id } = await gateways[0]!.permissions.requestApproval(askFor({ code: `c${round}` }));
      const waiting = gateways.map(({ permissions }) =>
        permissions.waitForDecision(scope, id, new AbortController().signal),
      );
      const answers = await Promise.allSettled(
        [yes, no, yes, no, yes, no, yes, no].map((decision, index) =>
          gateways[index % 4]!.permissions.decideApproval(scope, id, decision),
        ),
      );
      const given = answers.filter(({ status }) => status === "fulfilled");
      expect(given).toHaveLength(1);
      const refusals = answers.filter((answer) => answer.status === "rejected").map(({ reason }) => reason as unknown);
      expect(refusals).toEqual(Array.from({ length: 7 }, () => expect.objectContaining({ code: "approval_decided" })));
      const states = new Set((await Promise.all(waiting)).map(({ state }) => state));
      expect([...states]).toEqual([(given[0] as { value: { approval: { state: string } } }).value.approval.state]);
    }
    for (const { told } of gateways) {
      await expect.poll(() => told.filter(({ kind }) => kind === "approval_decided")).toHaveLength(10);
      expect(told.filter(({ kind }) => kind === "approval_requested")).toHaveLength(10);
    }
  });

  test("one of many concurrent users gets an approval; equal requests by all are one item", async () => {
    await using opened = await openGateways(4);
    const { gateways } = opened;
    for (let round = 0; round < 10; round += 1) {
      const request = askFor({ code: `c${round}` });
      const asked = await Promise.all(
        gateways.map(({ permissions }) => permissions.requestApproval(askFor({ code: `c${round}` }))),
      );
      expect(new Set(asked.map(({ id }) => id)).size).toBe(1);
      await gateways[1]!.permissions.decideApproval(scope, asked[0]!.id, yes);
      const uses = await Promise.all(
        [...gateways, ...gateways].map(({ permissions }) => permissions.useApproval(request.binding)),
      );
      expect(uses.filter(({ kind }) => kind === "used")).toHaveLength(1);
      expect(uses.filter(({ kind }) => kind === "none")).toHaveLength(7);
    }
  });
});
