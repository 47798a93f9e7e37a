import { z } from "zod";
import { approval } from "./approvals.ts";
import { nameSuggestion } from "./curation.ts";
import { review } from "./servers.ts";
import { count, type Received } from "./wire.ts";

/** Everything that waits for a person, of whatever kind. */
const inboxItem = z.discriminatedUnion("kind", [
  approval.extend({ kind: z.literal("approval") }),
  review.extend({ kind: z.literal("review") }),
  z.object({ kind: z.literal("login"), server: z.string() }),
  nameSuggestion.extend({ kind: z.literal("naming") }),
]);

const LARGEST_PAGE = 500;
const DEFAULT_PAGE = 100;

export const inboxQuery = z.strictObject({
  all: z.enum(["true", "false"]).default("false").describe("Also decided and expired approvals; the newest first."),
  limit: z.coerce.number<string | number>().int().min(1).max(LARGEST_PAGE).default(DEFAULT_PAGE),
  offset: z.coerce.number<string | number>().int().min(0).default(0).describe("`next` of the page before."),
});

export const inboxPage = z.object({
  items: z.array(inboxItem).describe("Approvals first, the oldest first: a new question pushes none off."),
  next: count.optional().describe("Left out on the last page."),
});

export type InboxItem = Received<typeof inboxItem>;
