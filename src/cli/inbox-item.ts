import type { SentApproval } from "../contract/approvals.ts";
import { toVisible } from "../base/visible.ts";

/** Makes one visible line of any text. */
export function oneLine(text: string): string {
  return toVisible(text).replace(/\s+/g, " ").trim();
}

/** Lists the tools that wait for a person, or all of them where nothing is left to ask. */
export function askedTools({ tools }: SentApproval): string {
  const asked = tools.filter(({ decision }) => decision === "ask");
  return (asked.length === 0 ? tools : asked).map(({ tool }) => oneLine(tool)).join(", ");
}

export function askedBy({ client, principal }: SentApproval): string {
  return oneLine(client ?? principal);
}

const MINUTE_MS = 60_000;

/** Formats a time: how far away on a terminal, exactly for programs. */
export function formatTime(time: string): string {
  if (!process.stdout.isTTY) return time;
  const minutes = Math.round((Date.parse(time) - Date.now()) / MINUTE_MS);
  const format = new Intl.RelativeTimeFormat("en", { numeric: "auto" });
  if (Math.abs(minutes) < 120) return format.format(minutes, "minute");
  const hours = Math.round(minutes / 60);
  return Math.abs(hours) < 48 ? format.format(hours, "hour") : format.format(Math.round(hours / 24), "day");
}
