/** Decides for the person of a PML_HOME, over the routes that the page and the command line use. */
import type { Answered } from "../../src/contract/route.ts";
import { routes } from "../../src/contract/routes.ts";
import { callDaemon, probe } from "../../src/daemon/daemon-client.ts";
import { type PersonAddress, readPersonAddress } from "../../src/daemon/daemon-file.ts";
import type { Visibility } from "../../src/registry/record-words.ts";
import { runJson } from "./pml.ts";

/** The address with the decision key; starts a daemon where none runs. */
export async function reachAsPerson(home: string): Promise<PersonAddress> {
  const known = readPersonAddress(home);
  if (known !== undefined && (await probe(known)) === "daemon") return known;
  await runJson(["up"], { home });
  const address = readPersonAddress(home);
  if (address === undefined) throw new Error(`no daemon runs in ${home}`);
  return address;
}

type Decided = Answered<typeof routes.decideApproval>;

export async function approve(home: string, id = "", more: { readonly remember?: true } = {}): Promise<Decided> {
  const body = { decision: "approve", via: "dashboard", ...more } as const;
  return callDaemon(await reachAsPerson(home), routes.decideApproval, { params: { id }, body });
}

/** Says who sees a record, which takes a person where that is the organisation or everybody. */
export async function share(home: string, name: string, visibility: Visibility): Promise<void> {
  await callDaemon(await reachAsPerson(home), routes.shareRecord, { body: { name, visibility } });
}

export async function decideReviews(home: string, subject: string, verdict: "accepted" | "refused"): Promise<void> {
  await callDaemon(await reachAsPerson(home), routes.decideReviews, { body: { subject, verdict } });
}
