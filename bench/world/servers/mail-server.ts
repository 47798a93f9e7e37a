import { z } from "zod";
import { contact, mailFolder, message, TODAY, type WorldState } from "../entities.ts";
import { addEntry, getEntry, toolsOf, WorldError } from "../world-tool.ts";

type Mail = WorldState["mail"];

const tool = toolsOf<Mail>();
const message_id = z.string().describe("Number of a message, like M-1042.");
const to = z.email().describe("Address of the receiver.");
const listed = message.omit({ body: true });
const OWN_ADDRESS = "me@harbour.example";

interface Letter {
  readonly to: string;
  readonly subject: string;
  readonly body: string;
  readonly answers?: string;
}

function send({ messages }: Mail, { answers, ...letter }: Letter): z.infer<typeof message> {
  return addEntry(messages, "M", (id) => ({
    id,
    ...letter,
    folder: "sent",
    sender: OWN_ADDRESS,
    date: TODAY,
    unread: false,
    flag: null,
    answers: answers ?? null,
  }));
}

export const mailTools = [
  tool({
    name: "list_messages",
    description: "List the messages of a folder, without their text.",
    effect: "read",
    input: z.object({
      folder: mailFolder,
      sender: z.email().optional().describe("Only those from this address."),
      unread_only: z.boolean().optional(),
    }),
    output: z.object({ messages: z.array(listed) }),
    run: ({ messages }, { folder, sender, unread_only: unreadOnly = false }) => ({
      messages: Object.values(messages)
        .filter((each) => each.folder === folder && (sender === undefined || each.sender === sender))
        .filter(({ unread }) => unread || !unreadOnly)
        .toSorted((a, b) => (a.id < b.id ? -1 : 1))
        .map((each) => listed.parse(each)),
    }),
  }),
  tool({
    name: "get_message",
    description: "Read a message.",
    effect: "read",
    input: z.object({ message_id }),
    output: message,
    run: ({ messages }, given) => getEntry(messages, "message", given.message_id),
  }),
  tool({
    name: "send_message",
    description: "Send a mail.",
    effect: "write",
    input: z.object({ to, subject: z.string(), body: z.string() }),
    output: message,
    run: (state, letter) => send(state, letter),
  }),
  tool({
    name: "reply",
    description: "Answer the sender of a message.",
    effect: "write",
    input: z.object({ message_id, body: z.string() }),
    output: message,
    run: (state, { message_id: id, body }) => {
      const { sender, subject } = getEntry(state.messages, "message", id);
      return send(state, { to: sender, subject: `Re: ${subject}`, body, answers: id });
    },
  }),
  tool({
    name: "forward_message",
    description: "Pass a message on to somebody else.",
    effect: "write",
    input: z.object({ message_id, to }),
    output: message,
    run: (state, given) => {
      const { subject, body } = getEntry(state.messages, "message", given.message_id);
      return send(state, { to: given.to, subject: `Fwd: ${subject}`, body });
    },
  }),
  tool({
    name: "move_message",
    description: "Put a message into another folder.",
    effect: "write",
    input: z.object({ message_id, folder: mailFolder }),
    output: listed,
    run: ({ messages }, given) => {
      const moved = getEntry(messages, "message", given.message_id);
      moved.folder = given.folder;
      return listed.parse(moved);
    },
  }),
  tool({
    name: "mark_message",
    description: "Mark a message as read or unread.",
    effect: "write",
    input: z.object({ message_id, state: z.enum(["read", "unread"]) }),
    output: listed,
    run: ({ messages }, given) => {
      const marked = getEntry(messages, "message", given.message_id);
      marked.unread = given.state === "unread";
      return listed.parse(marked);
    },
  }),
  tool({
    name: "flag_message",
    description: "Put a coloured flag on a message.",
    effect: "write",
    input: z.object({ message_id, flag: z.enum(["red", "yellow", "green"]) }),
    output: listed,
    run: ({ messages }, given) => {
      const flagged = getEntry(messages, "message", given.message_id);
      flagged.flag = given.flag;
      return listed.parse(flagged);
    },
  }),
  tool({
    name: "delete_message",
    description: "Delete a message for good.",
    effect: "destroy",
    input: z.object({ message_id }),
    output: z.object({ deleted: z.string() }),
    run: ({ messages }, given) => {
      getEntry(messages, "message", given.message_id);
      delete messages[given.message_id];
      return { deleted: given.message_id };
    },
  }),
  tool({
    name: "find_contact",
    description: "Look a colleague up in the address book by name.",
    effect: "read",
    input: z.object({ name: z.string().describe("First and last name.") }),
    output: contact,
    run: ({ contacts }, { name }) => {
      const found = Object.values(contacts).find((each) => each.name.toLowerCase() === name.toLowerCase());
      if (found === undefined) throw new WorldError(`Nobody in the address book is called ${name}`);
      return found;
    },
  }),
  tool({
    name: "list_contacts",
    description: "List the colleagues of a team.",
    effect: "read",
    input: z.object({ team: z.string() }),
    output: z.object({ contacts: z.array(contact) }),
    run: ({ contacts }, { team }) => ({
      contacts: Object.values(contacts)
        .filter((each) => each.team === team)
        .toSorted((a, b) => (a.email < b.email ? -1 : 1)),
    }),
  }),
];
