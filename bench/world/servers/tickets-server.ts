import { z } from "zod";
import { date, priority, relation, ticket, ticketStatus, type WorldState } from "../entities.ts";
import { addEntry, getEntry, toolsOf, WorldError } from "../world-tool.ts";

type Tickets = WorldState["tickets"];
type Ticket = z.infer<typeof ticket>;

const tool = toolsOf<Tickets>();
const ticket_id = z.string().describe("Number of a ticket, like WEB-17.");
const project = z.string().describe("Short name of a project, like WEB.");

function listTickets({ tickets }: Tickets, isListed: (each: Ticket) => boolean): Ticket[] {
  return Object.values(tickets)
    .filter(isListed)
    .toSorted((a, b) => (a.id < b.id ? -1 : 1));
}

function getProject({ members }: Tickets, name: string): readonly string[] {
  return getEntry(members, "project", name);
}

/** Declares a tool that changes a ticket. */
function change<Input extends z.ZodRawShape>(
  name: string,
  description: string,
  shape: Input,
  apply: (changed: Ticket, given: z.infer<z.ZodObject<Input>>) => void,
) {
  return tool({
    name,
    description,
    effect: "write",
    input: z.object({ ticket_id, ...shape }),
    output: ticket,
    run: ({ tickets }, given) => {
      const changed = getEntry(tickets, "ticket", (given as { readonly ticket_id: string }).ticket_id);
      apply(changed, given as z.infer<z.ZodObject<Input>>);
      return changed;
    },
  });
}

export const ticketsTools = [
  tool({
    name: "list_tickets",
    description: "List the tickets of a project, all or those in one state.",
    effect: "read",
    input: z.object({ project, status: ticketStatus.optional() }),
    output: z.object({ tickets: z.array(ticket) }),
    run: (state, given) => {
      getProject(state, given.project);
      const { status } = given;
      return {
        tickets: listTickets(
          state,
          (each) => each.project === given.project && (status === undefined || each.status === status),
        ),
      };
    },
  }),
  tool({
    name: "get_ticket",
    description: "Read a ticket.",
    effect: "read",
    input: z.object({ ticket_id }),
    output: ticket,
    run: ({ tickets }, given) => getEntry(tickets, "ticket", given.ticket_id),
  }),
  tool({
    name: "search_tickets",
    description: "Find tickets by a word in their title or description.",
    effect: "read",
    input: z.object({ query: z.string().min(1) }),
    output: z.object({ tickets: z.array(ticket) }),
    run: (state, { query }) => ({
      tickets: listTickets(state, ({ title, description }) =>
        `${title}\n${description}`.toLowerCase().includes(query.toLowerCase()),
      ),
    }),
  }),
  tool({
    name: "list_members",
    description: "List the members of a project with the number of their open tickets.",
    effect: "read",
    input: z.object({ project }),
    output: z.object({ members: z.array(z.object({ name: z.string(), open_tickets: z.number().int() })) }),
    run: (state, given) => ({
      members: getProject(state, given.project).map((name) => ({
        name,
        open_tickets: listTickets(state, ({ assignee, status }) => assignee === name && status === "open").length,
      })),
    }),
  }),
  tool({
    name: "create_ticket",
    description: "Open a ticket in a project.",
    effect: "write",
    input: z.object({ project, title: z.string(), description: z.string(), priority }),
    output: ticket,
    run: (state, given) => {
      getProject(state, given.project);
      return addEntry(state.tickets, given.project, (id) => ({
        id,
        ...given,
        status: "open" as const,
        assignee: null,
        labels: [],
        comments: [],
        due: null,
        hours: 0,
        links: [],
      }));
    },
  }),
  change("comment_ticket", "Write a comment on a ticket.", { text: z.string() }, (changed, { text }) => {
    changed.comments = [...changed.comments, text];
  }),
  change("assign_ticket", "Give a ticket to a member.", { assignee: z.string() }, (changed, { assignee }) => {
    changed.assignee = assignee;
  }),
  change("set_status", "Move a ticket to another state.", { status: ticketStatus }, (changed, { status }) => {
    changed.status = status;
  }),
  change("set_priority", "Change the priority of a ticket.", { priority }, (changed, given) => {
    changed.priority = given.priority;
  }),
  change("set_due", "Set the day by which a ticket is to be done.", { due: date }, (changed, { due }) => {
    changed.due = due;
  }),
  change("label_ticket", "Put a label on a ticket.", { label: z.string().min(1) }, (changed, { label }) => {
    changed.labels = [...new Set([...changed.labels, label])].toSorted();
  }),
  change(
    "log_work",
    "Book hours on a ticket.",
    { hours: z.number().positive().max(24).describe("Hours, like 1.5.") },
    (changed, { hours }) => {
      changed.hours += hours;
    },
  ),
  change(
    "link_tickets",
    "Link a ticket to another one.",
    { other_id: z.string().describe("Number of the other ticket."), relation },
    (changed, given) => {
      if (given.other_id === changed.id) throw new WorldError("A ticket cannot be linked to itself");
      changed.links = [...changed.links, { other_id: given.other_id, relation: given.relation }];
    },
  ),
];
