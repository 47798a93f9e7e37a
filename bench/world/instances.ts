/** How the values of each template's instances are drawn. Some instances leave nothing to do. */
import type { JsonObject } from "../../src/base/json.ts";
import { cancelReason, carrier, priority, tier } from "./entities.ts";
import type { Draw } from "./draw.ts";
import { cycle } from "./seed.ts";
import words from "./words.json" with { type: "json" };

type DrawInstance = (draw: Draw, index: number) => JsonObject;

const { senders, projects, folders, teams } = words;
const categories = Object.keys(words.categories);
const REASONS = cancelReason.options;
const PRIORITIES = priority.options;
/** From this instance on, the condition of a template does not hold. */
const NOTHING_FROM = 3;

const TEXTS = [
  "the delivery comes on Thursday",
  "please send me your numbers by Friday",
  "we meet at the front desk",
  "the new plan is attached",
  "thanks for your patience",
] as const;
const EXCUSES = [
  "I am ill today",
  "the room is not free",
  "the guest cannot come",
  "we solved it by mail",
  "too many are on holiday",
] as const;
const QUESTIONS = [
  "when will this be done?",
  "do you need help with it?",
  "is this still a problem?",
  "what is it waiting for?",
  "can a customer test it?",
] as const;
const SUBJECTS = ["Parking", "Year-end figures", "Office move", "New opening hours", "Fire drill"] as const;
const NOTES = [
  "fixed in the last release",
  "no answer for weeks",
  "works again",
  "cannot be repeated",
  "replaced the part",
] as const;
const LINES = [
  "Checked by Ana",
  "Valid until June",
  "Second version",
  "Call the supplier",
  "Needs a signature",
] as const;

const withHolding = (draw: Draw, index: number, tickets: Parameters<Draw["ticket"]>[0]): JsonObject => ({
  ticket_id: draw.ticket((each) => (tickets?.(each) ?? true) === index < NOTHING_FROM).id,
  text: cycle(NOTES, index),
});

const shop: Readonly<Record<string, DrawInstance>> = {
  "cancel-pending-order": (draw, index) => ({
    order_id: draw.order(({ status }) => (status === "pending") === index < NOTHING_FROM).id,
    reason: cycle(REASONS, index),
  }),
  "cancel-small-order": (draw, index) => ({
    order_id: draw.order(({ total }) => total < 100 === index < NOTHING_FROM).id,
    reason: cycle(REASONS, index + 1),
  }),
  "refund-in-full": (draw, index) => ({
    order_id: draw.order(({ status }) => (status === "delivered") === index < NOTHING_FROM + 1).id,
  }),
  "refund-half": (draw, index) => ({
    order_id: draw.order(({ status }) => (status === "delivered") === index < NOTHING_FROM + 1).id,
  }),
  "refund-price-drop": (draw, index) => ({ order_id: draw.orderWithCheaperItem(index < NOTHING_FROM).id }),
  "change-address-and-tell": (draw) => ({
    order_id: draw.order().id,
    street: `${draw.random.between(1, 90)} ${draw.fresh(words.streets)}`,
    city: draw.fresh(words.cities),
    zip: String(draw.random.between(10_000, 99_999)),
  }),
  "ship-and-tell": (draw, index) => ({
    order_id: draw.order(({ status }) => (status === "pending") === index < NOTHING_FROM).id,
    carrier: cycle(carrier.options, index),
  }),
  "top-up-stock": (draw, index) => ({
    sku: draw.product(({ stock, reorder_at }) => stock < reorder_at === index < NOTHING_FROM + 1).sku,
  }),
  "fill-stock-to-level": (draw, index) => ({
    sku: draw.product(({ stock, reorder_at }) => stock < reorder_at === index < NOTHING_FROM + 1).sku,
  }),
  "reorder-low-in-category": (draw, index) => ({ category: draw.fresh(categories), quantity: 20 + 5 * index }),
  "reorder-sold-out-in-category": (draw, index) => ({ category: draw.fresh(categories), quantity: 12 + 6 * index }),
  "raise-prices": (draw, index) => ({ category: draw.fresh(categories), percent: 3 + 2 * index }),
  "lower-prices": (draw, index) => ({ category: draw.fresh(categories), percent: 10 + 5 * index }),
  "money-spent": (draw) => ({ email: draw.customer().email }),
  "largest-order": (draw) => ({ email: draw.customerWith(({ length }) => length > 1).email }),
  "credit-for-gold": (draw, index) => ({
    email: draw.customer((each) => (each.tier === "gold") === index < NOTHING_FROM).email,
    amount: 15 + 10 * index,
  }),
  "credit-unless-gold": (draw, index) => ({
    email: draw.customer((each) => (each.tier !== "gold") === index < NOTHING_FROM).email,
    amount: 12 + 8 * index,
  }),
  "promote-good-customer": (draw, index) => ({
    email: draw.customerWith(
      (orders, customer) =>
        customer.tier === "basic" && orders.reduce((sum, { total }) => sum + total, 0) > 1000 === index < NOTHING_FROM,
    ).email,
    tier: cycle([...tier.options].toReversed(), index % 2),
  }),
  "cancel-all-pending": (draw, index) => ({
    email: draw.customerWith((orders) => orders.some(({ status }) => status === "pending") === index < NOTHING_FROM + 1)
      .email,
    reason: cycle(REASONS, index),
  }),
  "order-or-note": (draw, index) => ({
    customer_id: draw.customer().id,
    sku: draw.product(({ stock }) => stock > 10 === index < NOTHING_FROM).sku,
    quantity: 2 + index,
  }),
  "unknown-order-ticket": (draw, index) => ({
    order_id: index < NOTHING_FROM ? `O-${draw.random.between(7000, 7999)}` : draw.order().id,
    project: cycle(projects, index),
  }),
};

const mail: Readonly<Record<string, DrawInstance>> = {
  "archive-read-mail": (draw) => ({ sender: draw.fresh(senders) }),
  "archive-unread-mail": (draw) => ({ sender: draw.fresh(senders) }),
  "answer-newest": (draw, index) => ({ sender: draw.fresh(senders), body: cycle(TEXTS, index) }),
  "answer-oldest": (draw, index) => ({ sender: draw.fresh(senders), body: cycle(TEXTS, index + 2) }),
  "forward-to-person": (draw) => ({ message_id: draw.message().id, name: draw.person() }),
  "write-to-several": (draw, index) => ({
    names: draw.people(2 + (index % 3)),
    subject: cycle(SUBJECTS, index),
    text: cycle(TEXTS, index),
  }),
  "keep-mail-as-file": (draw, index) => ({
    message_id: draw.message().id,
    path: `${cycle(folders, index)}/mail-${index + 1}.txt`,
  }),
  "empty-spam": (draw) => ({ sender: draw.fresh(senders) }),
  "mail-to-ticket": (draw, index) => ({
    message_id: draw.message().id,
    project: cycle(projects, index),
    priority: cycle(PRIORITIES, index),
  }),
  "mail-to-ticket-with-sender": (draw, index) => ({
    message_id: draw.message().id,
    project: cycle(projects, index + 1),
    priority: cycle(PRIORITIES, index + 2),
  }),
  "mark-all-of-sender-read": (draw) => ({ sender: draw.fresh(senders) }),
};

const calendar: Readonly<Record<string, DrawInstance>> = {
  "meet-with": (draw, index) => ({
    names: draw.people(2 + (index % 2)),
    title: cycle(words.meetings, index * 2),
    date: draw.nextMonth(),
    time: cycle(["09:30", "11:00", "13:30", "15:00", "16:15"], index),
  }),
  "move-day": (draw) => ({ date: draw.day(), new_date: draw.nextMonth() }),
  "move-long-meetings": (draw) => ({ date: draw.day(), new_date: draw.nextMonth() }),
  "book-free-slot": (draw, index) => ({
    title: cycle(words.meetings, index + 3),
    date: index === 1 ? "2026-03-20" : index === NOTHING_FROM ? "2026-03-27" : draw.day(),
    minutes: cycle([30, 45, 60, 30, 90], index),
  }),
  "call-off-meeting": (draw, index) => ({
    event_id: draw.event(({ attendees }) => attendees.length > 0 === index < NOTHING_FROM + 1).id,
    body: cycle(EXCUSES, index),
  }),
  "minutes-in-meetings": (draw) => ({ date: draw.day() }),
  "longest-meeting": (draw) => ({ date: draw.day() }),
  "agenda-to-file": (draw, index) => ({ date: draw.day(), path: `plans/agenda-${index + 1}.txt` }),
  "agenda-backwards-to-file": (draw, index) => ({ date: draw.day(), path: `plans/backwards-${index + 1}.txt` }),
};

const tickets: Readonly<Record<string, DrawInstance>> = {
  "close-resolved-ticket": (draw, index) => withHolding(draw, index, ({ status }) => status === "resolved"),
  "close-orphaned-ticket": (draw, index) => withHolding(draw, index, ({ assignee }) => assignee === null),
  "assign-to-least-busy": (draw) => takeTicket(draw),
  "assign-to-busiest": (draw) => takeTicket(draw),
  "prioritise-unassigned": (_draw, index) => ({
    project: cycle(projects, index),
    priority: cycle(["high", "urgent", "high", "urgent", "urgent"], index),
  }),
  "prioritise-undated": (_draw, index) => ({
    project: cycle(projects, index),
    priority: cycle(["urgent", "high", "urgent", "high", "high"], index),
  }),
  "merge-duplicate": (draw) => ({ ticket_id: draw.ticket().id, other_id: draw.ticket().id }),
  "log-hours": (draw, index) => ({
    ticket_ids: Array.from({ length: 2 + (index % 3) }, () => draw.ticket().id),
    hours: cycle([1.5, 2, 4, 0.5, 3], index),
  }),
  "tickets-from-file": (draw, index) => ({
    path: draw.file().path,
    project: cycle(projects, index + 1),
    priority: cycle(PRIORITIES, index),
  }),
  "tickets-to-file": (_draw, index) => ({
    project: cycle(projects, index),
    status: cycle(["open", "resolved", "in_progress"], index),
    path: `reports/tickets-${index + 1}.txt`,
  }),
  "ask-assignee": (draw, index) => ({
    ticket_id: draw.ticket(({ assignee }) => (assignee !== null) === index < NOTHING_FROM + 1).id,
    body: cycle(QUESTIONS, index),
  }),
};

const files: Readonly<Record<string, DrawInstance>> = {
  "prepend-to-file": (draw, index) => ({ path: draw.file().path, text: cycle(LINES, index) }),
  "add-to-end-of-file": (draw, index) => ({ path: draw.file().path, text: cycle(LINES, index + 2) }),
  "archive-old-files": (draw) => ({ folder: draw.fresh(folders) }),
  "archive-untagged-files": (draw) => ({ folder: draw.fresh(folders) }),
  "share-with-team": (draw, index) => ({
    path: draw.file().path,
    team: cycle(teams, index),
    access: cycle(["view", "edit"], index),
  }),
  "append-or-create": (draw, index) => ({
    path: index < NOTHING_FROM ? draw.file().path : `drafts/new-${index}.txt`,
    text: cycle(LINES, index + 1),
  }),
  "tag-search-results": (draw, index) => ({
    query: draw.fresh(words.fileWords),
    tag: cycle(["important", "check", "spring", "old", "legal"], index),
  }),
  "copy-to-several": (draw, index) => {
    const { path } = draw.file();
    const others = folders.filter((folder) => !path.startsWith(folder));
    return { path, folders: others.slice(index % 3, (index % 3) + 2) };
  },
};

function takeTicket(draw: Draw): JsonObject {
  const { id, project } = draw.ticket(({ assignee }) => assignee === null);
  return { ticket_id: id, project };
}

export const drawInstances: Readonly<Record<string, DrawInstance>> = {
  ...shop,
  ...mail,
  ...calendar,
  ...tickets,
  ...files,
};
