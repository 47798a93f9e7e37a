import { z } from "zod";
import { cancelReason, carrier, customer, order, orderStatus, product, tier, type WorldState } from "../entities.ts";
import { addEntry, getEntry, toolsOf, WorldError } from "../world-tool.ts";

type Shop = WorldState["shop"];

const tool = toolsOf<Shop>();
const customer_id = z.string().describe("Number of a customer, like C-204.");
const order_id = z.string().describe("Number of an order, like O-5017.");
const sku = z.string().describe("Number of an article, like KB-110.");
const category = z.string().describe("Category of products, like keyboards.");
const amount = z.number().positive().describe("Euros.");
const quantity = z.number().int().positive().describe("Pieces.");

const stock = z.object({ sku, quantity: z.number().int(), reorder_at: z.number().int(), incoming: z.number().int() });

function stockOf({ sku: of, stock: left, reorder_at, incoming }: z.infer<typeof product>): z.infer<typeof stock> {
  return { sku: of, quantity: left, reorder_at, incoming };
}

function roundCents(value: number): number {
  return Math.round(value * 100) / 100;
}

const customerTools = [
  tool({
    name: "find_customer",
    description: "Find a customer by mail address.",
    effect: "read",
    input: z.object({ email: z.email() }),
    output: customer,
    run: ({ customers }, { email }) => {
      const found = Object.values(customers).find((each) => each.email === email);
      if (found === undefined) throw new WorldError(`No customer has the address ${email}`);
      return found;
    },
  }),
  tool({
    name: "get_customer",
    description: "Read a customer.",
    effect: "read",
    input: z.object({ customer_id }),
    output: customer,
    run: ({ customers }, given) => getEntry(customers, "customer", given.customer_id),
  }),
  tool({
    name: "add_note",
    description: "Put a note into the file of a customer.",
    effect: "write",
    input: z.object({ customer_id, text: z.string() }),
    output: customer,
    run: ({ customers }, given) => {
      const noted = getEntry(customers, "customer", given.customer_id);
      noted.notes = [...noted.notes, given.text];
      return noted;
    },
  }),
  tool({
    name: "grant_credit",
    description: "Give a customer store credit.",
    effect: "write",
    input: z.object({ customer_id, amount }),
    output: customer,
    run: ({ customers }, given) => {
      const credited = getEntry(customers, "customer", given.customer_id);
      credited.credit = roundCents(credited.credit + given.amount);
      return credited;
    },
  }),
  tool({
    name: "set_tier",
    description: "Change the tier of a customer.",
    effect: "write",
    input: z.object({ customer_id, tier }),
    output: customer,
    run: ({ customers }, given) => {
      const changed = getEntry(customers, "customer", given.customer_id);
      changed.tier = given.tier;
      return changed;
    },
  }),
];

const orderTools = [
  tool({
    name: "list_orders",
    description: "List the orders of a customer, all or those in one state.",
    effect: "read",
    input: z.object({ customer_id, status: orderStatus.optional() }),
    output: z.object({ orders: z.array(order) }),
    run: ({ orders }, given) => ({
      orders: Object.values(orders)
        .filter((each) => each.customer_id === given.customer_id)
        .filter(({ status }) => given.status === undefined || status === given.status)
        .toSorted((a, b) => (a.id < b.id ? -1 : 1)),
    }),
  }),
  tool({
    name: "get_order",
    description: "Read an order.",
    effect: "read",
    input: z.object({ order_id }),
    output: order,
    run: ({ orders }, given) => getEntry(orders, "order", given.order_id),
  }),
  tool({
    name: "place_order",
    description: "Order a product for a customer.",
    effect: "write",
    input: z.object({ customer_id, sku, quantity }),
    output: order,
    run: ({ customers, orders, products }, given) => {
      getEntry(customers, "customer", given.customer_id);
      const wanted = getEntry(products, "product", given.sku);
      if (wanted.stock < given.quantity) throw new WorldError(`Only ${wanted.stock} of ${given.sku} are in stock`);
      wanted.stock -= given.quantity;
      return addEntry(orders, "O", (id) => ({
        id,
        customer_id: given.customer_id,
        status: "pending" as const,
        items: [{ sku: given.sku, quantity: given.quantity, price: wanted.price }],
        total: roundCents(wanted.price * given.quantity),
        address: { street: "", city: "", zip: "" },
        carrier: null,
        cancel_reason: null,
        refunded: 0,
      }));
    },
  }),
  tool({
    name: "cancel_order",
    description: "Cancel an order.",
    effect: "destroy",
    input: z.object({ order_id, reason: cancelReason }),
    output: order,
    run: ({ orders }, given) =>
      Object.assign(getEntry(orders, "order", given.order_id), {
        status: "cancelled" as const,
        cancel_reason: given.reason,
      }),
  }),
  tool({
    name: "refund_order",
    description: "Pay back a part of an order, or all of it.",
    effect: "write",
    input: z.object({ order_id, amount }),
    output: order,
    run: ({ orders }, given) => {
      const refunded = getEntry(orders, "order", given.order_id);
      refunded.refunded = roundCents(refunded.refunded + given.amount);
      return refunded;
    },
  }),
  tool({
    name: "update_address",
    description: "Change where an order is sent.",
    effect: "write",
    input: z.object({ order_id, street: z.string(), city: z.string(), zip: z.string().describe("Postcode.") }),
    output: order,
    run: ({ orders }, { order_id: id, ...address }) => Object.assign(getEntry(orders, "order", id), { address }),
  }),
  tool({
    name: "ship_order",
    description: "Hand an order over to a carrier.",
    effect: "write",
    input: z.object({ order_id, carrier }),
    output: order,
    run: ({ orders }, given) =>
      Object.assign(getEntry(orders, "order", given.order_id), { status: "shipped" as const, carrier: given.carrier }),
  }),
];

const productTools = [
  tool({
    name: "list_products",
    description: "List the products of a category.",
    effect: "read",
    input: z.object({ category }),
    output: z.object({ products: z.array(product) }),
    run: ({ products }, given) => ({
      products: Object.values(products)
        .filter((each) => each.category === given.category)
        .toSorted((a, b) => (a.sku < b.sku ? -1 : 1)),
    }),
  }),
  tool({
    name: "get_product",
    description: "Read a product with its price.",
    effect: "read",
    input: z.object({ sku }),
    output: product,
    run: ({ products }, given) => getEntry(products, "product", given.sku),
  }),
  tool({
    name: "get_stock",
    description: "Tell how many pieces of a product are in stock.",
    effect: "read",
    input: z.object({ sku }),
    output: stock,
    run: ({ products }, given) => stockOf(getEntry(products, "product", given.sku)),
  }),
  tool({
    name: "reorder_stock",
    description: "Order pieces of a product from the supplier.",
    effect: "write",
    input: z.object({ sku, quantity }),
    output: stock,
    run: ({ products }, given) => {
      const wanted = getEntry(products, "product", given.sku);
      wanted.incoming += given.quantity;
      return stockOf(wanted);
    },
  }),
  tool({
    name: "set_price",
    description: "Change the price of a product.",
    effect: "write",
    input: z.object({ sku, price: z.number().positive().describe("Euros.") }),
    output: product,
    run: ({ products }, given) => {
      const priced = getEntry(products, "product", given.sku);
      priced.price = given.price;
      return priced;
    },
  }),
];

export const shopTools = [...customerTools, ...orderTools, ...productTools];
