import type { Approval, RememberedRule } from "../permissions/approval.ts";
import { toVisible } from "../base/visible.ts";

/** As it arrives over HTTP: a time is its text. */
type Sent<T> = { readonly [Key in keyof T]: Exclude<T[Key], undefined> extends Date ? string : T[Key] };

/** As the daemon tells it at /api/inbox and /api/approvals. */
export type SentApproval = Sent<Approval>;
export type InboxItem = SentApproval & { readonly kind: "approval" };
/** As the daemon tells it at /api/rules. */
export type SentRule = Sent<RememberedRule>;

export interface SentDecision {
  readonly approval: SentApproval;
  readonly rules: readonly SentRule[];
}

/** On one line, whatever somebody put into it. */
export function oneLine(text: string): string {
  return toVisible(text).replace(/\s+/g, " ").trim();
}

/** What waits for a person in it, or everything it calls where nothing is left to ask. */
export function askedTools({ tools }: SentApproval): string {
  const asked = tools.filter(({ decision }) => decision === "ask");
  return (asked.length === 0 ? tools : asked).map(({ tool }) => oneLine(tool)).join(", ");
}

export function askedBy({ client, principal }: SentApproval): string {
  return oneLine(client ?? principal);
}

const MINUTE_MS = 60_000;

/** How far away on a terminal, when exactly for programs. */
export function formatTime(time: string): string {
  if (!process.stdout.isTTY) return time;
  const minutes = Math.round((Date.parse(time) - Date.now()) / MINUTE_MS);
  const format = new Intl.RelativeTimeFormat("en", { numeric: "auto" });
  if (Math.abs(minutes) < 120) return format.format(minutes, "minute");
  const hours = Math.round(minutes / 60);
  return Math.abs(hours) < 48 ? format.format(hours, "hour") : format.format(Math.round(hours / 24), "day");
}
