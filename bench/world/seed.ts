import type { z } from "zod";
import { Random } from "../../test/support/random.ts";
import type { contact, file, product, WorldState } from "./entities.ts";
import words from "./words.json" with { type: "json" };

const SEED = 20_260_316;
const ORDERS_PER_CUSTOMER = [1, 5] as const;
const MESSAGES_PER_SENDER = 6;
const EVENTS_PER_DAY = [2, 6] as const;
const TICKETS_PER_PROJECT = 16;
const FILES_PER_FOLDER = 6;

/** Makes the state in which every task starts; it is the same each time. */
export function seedWorld(): WorldState {
  const random = new Random(SEED);
  const contacts = makeContacts();
  return {
    files: { files: makeFiles(random) },
    mail: { messages: makeMessages(random), contacts },
    calendar: { events: makeEvents(random, Object.values(contacts)) },
    tickets: makeTickets(random),
    shop: makeShop(random),
  };
}

function keyed<Value>(values: readonly Value[], key: (value: Value) => string): Record<string, Value> {
  return Object.fromEntries(values.map((value) => [key(value), value]));
}

function times<Value>(count: number, make: (index: number) => Value): Value[] {
  return Array.from({ length: count }, (_, index) => make(index));
}

/** The item at a position of a list that starts again at its end. */
export function cycle<Value>(items: readonly Value[], index: number): Value {
  return items[index % items.length] as Value;
}

function addressOf(name: string, host: string): string {
  return `${name.toLowerCase().replaceAll(/[^a-z]+/g, ".")}@${host}`;
}

/** A day of the month, as in 2026-03-05. */
export function dayOf(month: number, day: number, year = 2026): string {
  return `${year}-${String(month).padStart(2, "0")}-${String(day).padStart(2, "0")}`;
}

function makeContacts(): Record<string, z.infer<typeof contact>> {
  const people = words.people.map((name, index) => ({
    name,
    email: addressOf(name, "harbour.example"),
    team: cycle(words.teams, index),
  }));
  return keyed(people, ({ email }) => email);
}

function makeFiles(random: Random): Record<string, z.infer<typeof file>> {
  const files = words.folders.flatMap((folder, at) =>
    times(FILES_PER_FOLDER, (index) => {
      const name = `${cycle(words.fileNames, index + at)}-${at + 1}${index}.txt`;
      const lines = times(random.between(2, 4), () => random.pick(words.problems));
      return {
        path: `${folder}/${name}`,
        name,
        content: [...lines, `About ${random.pick(words.fileWords)} matters`].join("\n"),
        modified: index % 3 === 0 ? dayOf(random.between(6, 12), random.between(1, 28), 2025) : dayOf(2, 1 + index),
        tags: index % 2 === 0 ? [random.pick(words.fileTags)] : [],
        shares: [],
      };
    }),
  );
  return keyed(files, ({ path }) => path);
}

function makeMessages(random: Random): WorldState["mail"]["messages"] {
  const messages = words.senders.flatMap((sender, at) =>
    times(MESSAGES_PER_SENDER * 2, (index) => ({
      id: `M-${1000 + at * 20 + ((index * 7) % 12)}`,
      folder:
        index < MESSAGES_PER_SENDER ? ("inbox" as const) : index % 3 === 0 ? ("archive" as const) : ("spam" as const),
      sender,
      to: "me@harbour.example",
      subject: random.pick(words.subjects),
      body: random.pick(words.bodies),
      date: dayOf(1 + (index % 3), 2 + ((index * 5 + at) % 26)),
      unread: index % 2 === 0,
      flag: null,
      answers: null,
    })),
  );
  return keyed(messages, ({ id }) => id);
}

const FULL_DAYS: readonly number[] = [20, 27];

function makeEvents(random: Random, contacts: readonly z.infer<typeof contact>[]): WorldState["calendar"]["events"] {
  const events = times(20, (index) => 12 + index).flatMap((day) => {
    const count = FULL_DAYS.includes(day) ? 8 : random.between(...EVENTS_PER_DAY);
    return times(count, (index) => ({
      id: `E-${day * 10 + index + 200}`,
      title: random.pick(words.meetings),
      date: dayOf(3, day),
      time: `${String(9 + index).padStart(2, "0")}:00`,
      minutes: FULL_DAYS.includes(day)
        ? 60
        : random.pick([30, 45, 60, 90].filter((length) => length <= 60 || index % 2 === 1)),
      attendees: times(random.between(0, 3), () => random.pick(contacts).email)
        .filter((email, at, all) => all.indexOf(email) === at)
        .toSorted(),
      status: "planned" as const,
    }));
  });
  return keyed(events, ({ id }) => id);
}

function makeTickets(random: Random): WorldState["tickets"] {
  const members = Object.fromEntries(
    words.projects.map((project, at) => [project, words.people.slice(at * 5, at * 5 + 5)]),
  );
  const tickets = words.projects.flatMap((project) =>
    times(TICKETS_PER_PROJECT, (index) => ({
      id: `${project}-${11 + index}`,
      project,
      title: cycle(words.problems, index * 4 + project.length + random.between(0, 14)),
      description: random.pick(words.bodies),
      status: cycle(["open", "open", "resolved", "in_progress"] as const, index),
      priority: random.pick(["low", "normal"] as const),
      assignee: index % 5 === 4 ? null : (members[project]?.[index % 3 === 0 ? 0 : index % 5] ?? null),
      labels: [],
      comments: [],
      due: index % 3 === 1 ? null : dayOf(4, 1 + index),
      hours: index % 4,
      links: [],
    })),
  );
  return { members, tickets: keyed(tickets, ({ id }) => id) };
}

function makeShop(random: Random): WorldState["shop"] {
  const products = Object.entries(words.categories).flatMap(([category, [prefix, names]]) =>
    (names as readonly string[]).map((name, index) =>
      makeProduct(random, { category, sku: `${prefix as string}-${110 + index}`, name, index }),
    ),
  );
  const customers = words.customers.map((name, index) => ({
    id: `C-${201 + index}`,
    name,
    email: addressOf(name, "mail.example"),
    tier: cycle(["basic", "gold", "silver", "gold"] as const, index),
    credit: 0,
    notes: [],
  }));
  const orders = customers.flatMap(({ id }, at) =>
    times(random.between(...ORDERS_PER_CUSTOMER), (index) =>
      makeOrder(random, { customer: id, id: `O-${5000 + at * 8 + index}`, products }),
    ),
  );
  return {
    customers: keyed(customers, ({ id }) => id),
    orders: keyed(orders, ({ id }) => id),
    products: keyed(products, ({ sku }) => sku),
  };
}

type Product = z.infer<typeof product>;

function makeProduct(
  random: Random,
  {
    category,
    sku,
    name,
    index,
  }: { readonly category: string; readonly sku: string; readonly name: string; readonly index: number },
): Product {
  const reorder_at = random.between(8, 15);
  const stock = cycle([0, reorder_at - random.between(2, 6), reorder_at + random.between(1, 20), 40], index);
  return { sku, name, category, price: random.between(9, 180) + 0.5, stock, reorder_at, incoming: 0 };
}

function makeOrder(
  random: Random,
  { customer, id, products }: { readonly customer: string; readonly id: string; readonly products: readonly Product[] },
): WorldState["shop"]["orders"][string] {
  const items = times(random.between(1, 3), () => {
    const { sku, price } = random.pick(products);
    return { sku, quantity: random.between(1, 4), price: price + random.pick([-4, 0, 3, 6]) };
  });
  return {
    id,
    customer_id: customer,
    status: random.pick(["pending", "delivered", "shipped", "delivered", "pending"] as const),
    items,
    total: Math.round(items.reduce((sum, { quantity, price }) => sum + quantity * price, 0) * 100) / 100,
    address: {
      street: `${random.between(1, 90)} ${random.pick(words.streets)}`,
      city: random.pick(words.cities),
      zip: String(random.between(10_000, 99_999)),
    },
    carrier: null,
    cancel_reason: null,
    refunded: 0,
  };
}
