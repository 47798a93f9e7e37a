import { createHash } from "node:crypto";
import { Random } from "../../test/support/random.ts";
import type { WorldState } from "./entities.ts";
import { dayOf } from "./seed.ts";
import words from "./words.json" with { type: "json" };

type Entry<
  Key extends keyof WorldState,
  Kind extends keyof WorldState[Key],
> = WorldState[Key][Kind][keyof WorldState[Key][Kind]];

/** The days that have appointments. */
const DAYS = Array.from({ length: 20 }, (_, index) => dayOf(3, 12 + index));
const NEXT_DAYS = Array.from({ length: 28 }, (_, index) => dayOf(4, 1 + index));

/** Draws the values of a template's instances from the state; nothing is drawn twice for one template. */
export class Draw {
  readonly random: Random;
  readonly #state: WorldState;
  readonly #used = new Set<unknown>();

  constructor(state: WorldState, template: string) {
    this.#state = state;
    this.random = new Random(createHash("sha256").update(template).digest().readUInt32BE(0));
  }

  /** Picks one that was not picked before. */
  fresh<Value>(items: readonly Value[]): Value {
    const left = items.filter((item) => !this.#used.has(item));
    if (left.length === 0) throw new Error("Nothing is left to draw");
    const picked = this.random.pick(left);
    this.#used.add(picked);
    return picked;
  }

  order(isWanted: (order: Entry<"shop", "orders">) => boolean = () => true): Entry<"shop", "orders"> {
    return this.fresh(Object.values(this.#state.shop.orders).filter(isWanted));
  }

  orderWithCheaperItem(isCheaper: boolean): Entry<"shop", "orders"> {
    const { products } = this.#state.shop;
    return this.order(
      ({ items: [first] }) => (products[first?.sku ?? ""]?.price ?? 0) < (first?.price ?? 0) === isCheaper,
    );
  }

  customer(isWanted: (customer: Entry<"shop", "customers">) => boolean = () => true): Entry<"shop", "customers"> {
    return this.fresh(Object.values(this.#state.shop.customers).filter(isWanted));
  }

  /** A customer by what their orders are like. */
  customerWith(
    isWanted: (orders: readonly Entry<"shop", "orders">[], customer: Entry<"shop", "customers">) => boolean,
  ): Entry<"shop", "customers"> {
    const orders = Object.values(this.#state.shop.orders);
    return this.customer((each) =>
      isWanted(
        orders.filter((order) => order.customer_id === each.id),
        each,
      ),
    );
  }

  product(isWanted: (product: Entry<"shop", "products">) => boolean = () => true): Entry<"shop", "products"> {
    return this.fresh(Object.values(this.#state.shop.products).filter(isWanted));
  }

  message(): Entry<"mail", "messages"> {
    return this.fresh(Object.values(this.#state.mail.messages).filter(({ folder }) => folder === "inbox"));
  }

  person(): string {
    return this.fresh(words.people);
  }

  people(count: number): string[] {
    const left = [...words.people];
    return Array.from({ length: count }, () => left.splice(this.random.between(0, left.length - 1), 1)[0] as string);
  }

  event(isWanted: (event: Entry<"calendar", "events">) => boolean): Entry<"calendar", "events"> {
    return this.fresh(Object.values(this.#state.calendar.events).filter(isWanted));
  }

  ticket(isWanted: (ticket: Entry<"tickets", "tickets">) => boolean = () => true): Entry<"tickets", "tickets"> {
    return this.fresh(Object.values(this.#state.tickets.tickets).filter(isWanted));
  }

  file(): Entry<"files", "files"> {
    return this.fresh(Object.values(this.#state.files.files));
  }

  day(): string {
    return this.fresh(DAYS);
  }

  nextMonth(): string {
    return this.fresh(NEXT_DAYS);
  }
}
