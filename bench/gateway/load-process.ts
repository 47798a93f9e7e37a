/** A process that puts load on gateways over HTTP, so that the rest of the benchmark does not slow it down. */
import { type LeanClient, type LeanTarget, openLean } from "./lean-client.ts";

export type LoadOrder =
  | { readonly kind: "open"; readonly name: string; readonly target: LeanTarget; readonly inFlight: number }
  | { readonly kind: "run"; readonly name: string; readonly calls: number; readonly message: string };

export type LoadReport =
  | { readonly kind: "done"; readonly ms: number }
  | { readonly kind: "failed"; readonly why: string };

interface OpenTarget {
  readonly client: LeanClient;
  readonly inFlight: number;
}

const clients = new Map<string, OpenTarget>();

async function executeOrder(order: LoadOrder): Promise<number> {
  if (order.kind === "open") {
    const { name, target, inFlight } = order;
    clients.set(name, { client: await openLean(target, inFlight), inFlight });
    return 0;
  }
  const opened = clients.get(order.name);
  if (opened === undefined) throw new Error(`${order.name} was not opened`);
  const started = performance.now();
  await callTogether(opened, order.calls, order.message);
  return performance.now() - started;
}

async function callTogether({ client, inFlight }: OpenTarget, calls: number, message: string): Promise<void> {
  let left = calls;
  const work = async (connection: number): Promise<void> => {
    while (left > 0) {
      left -= 1;
      await client.call(connection, message);
    }
  };
  await Promise.all(Array.from({ length: inFlight }, (_, connection) => work(connection)));
}

process.on("message", (order: LoadOrder) => {
  executeOrder(order).then(
    (ms) => process.send?.({ kind: "done", ms } satisfies LoadReport),
    (error: unknown) => process.send?.({ kind: "failed", why: String(error) } satisfies LoadReport),
  );
});
