/** The things of the world. A schema gives the type of the state and the output of the tools. */
import { z } from "zod";

export const date = z.string().regex(/^\d{4}-\d{2}-\d{2}$/);
export const time = z.string().regex(/^\d{2}:\d{2}$/);

export const access = z.enum(["view", "edit"]);

export const file = z.object({
  path: z.string(),
  name: z.string(),
  content: z.string(),
  modified: date,
  tags: z.array(z.string()),
  shares: z.array(z.object({ email: z.email(), access })),
});

export const mailFolder = z.enum(["inbox", "archive", "sent", "spam"]);

export const message = z.object({
  id: z.string(),
  folder: mailFolder,
  sender: z.email(),
  to: z.email(),
  subject: z.string(),
  body: z.string(),
  date,
  unread: z.boolean(),
  flag: z.string().nullable(),
  answers: z.string().nullable().describe("The message that this one answers."),
});

export const contact = z.object({ name: z.string(), email: z.email(), team: z.string() });

export const event = z.object({
  id: z.string(),
  title: z.string(),
  date,
  time,
  minutes: z.number().int(),
  attendees: z.array(z.email()),
  status: z.enum(["planned", "cancelled"]),
});

export const ticketStatus = z.enum(["open", "in_progress", "resolved", "closed"]);
export const priority = z.enum(["low", "normal", "high", "urgent"]);
export const relation = z.enum(["duplicates", "blocks", "relates_to"]);

export const ticket = z.object({
  id: z.string(),
  project: z.string(),
  title: z.string(),
  description: z.string(),
  status: ticketStatus,
  priority,
  assignee: z.string().nullable(),
  labels: z.array(z.string()),
  comments: z.array(z.string()),
  due: date.nullable(),
  hours: z.number(),
  links: z.array(z.object({ other_id: z.string(), relation })),
});

export const tier = z.enum(["basic", "silver", "gold"]);

export const customer = z.object({
  id: z.string(),
  name: z.string(),
  email: z.email(),
  tier,
  credit: z.number(),
  notes: z.array(z.string()),
});

export const orderStatus = z.enum(["pending", "shipped", "delivered", "cancelled"]);
export const carrier = z.enum(["dhl", "ups", "fedex", "gls"]);
export const cancelReason = z.enum(["ordered by mistake", "no longer needed", "too slow", "found it cheaper"]);

export const order = z.object({
  id: z.string(),
  customer_id: z.string(),
  status: orderStatus,
  items: z.array(z.object({ sku: z.string(), quantity: z.number().int(), price: z.number() })),
  total: z.number(),
  address: z.object({ street: z.string(), city: z.string(), zip: z.string() }),
  carrier: carrier.nullable(),
  cancel_reason: cancelReason.nullable(),
  refunded: z.number(),
});

export const product = z.object({
  sku: z.string(),
  name: z.string(),
  category: z.string(),
  price: z.number(),
  stock: z.number().int(),
  reorder_at: z.number().int(),
  incoming: z.number().int().describe("Pieces ordered from the supplier."),
});

/** Keyed by id, so that the order in which things were made leaves no trace. */
type Keyed<Schema extends z.ZodType> = Record<string, z.infer<Schema>>;

/** The state of the world, one part per server. */
export interface WorldState {
  files: { files: Keyed<typeof file> };
  mail: { messages: Keyed<typeof message>; contacts: Keyed<typeof contact> };
  calendar: { events: Keyed<typeof event> };
  tickets: { tickets: Keyed<typeof ticket>; members: Record<string, string[]> };
  shop: { customers: Keyed<typeof customer>; orders: Keyed<typeof order>; products: Keyed<typeof product> };
}

export type ServerName = keyof WorldState;

/** The day on which everything happens. */
export const TODAY = "2026-03-16";
