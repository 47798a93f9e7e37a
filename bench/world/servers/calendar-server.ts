import { z } from "zod";
import { date, event, time, type WorldState } from "../entities.ts";
import { addEntry, getEntry, toolsOf } from "../world-tool.ts";

type Calendar = WorldState["calendar"];

const tool = toolsOf<Calendar>();
const event_id = z.string().describe("Number of an appointment, like E-310.");
const day = date.describe("Year, month and day, like 2026-03-16.");
const clock = time.describe("Hours and minutes, like 14:30.");
const minutes = z.number().int().positive().describe("How long it takes.");
const OPENS = 9 * 60;
const CLOSES = 17 * 60;
const STEP = 30;

function eventsOn({ events }: Calendar, on: string): z.infer<typeof event>[] {
  return Object.values(events)
    .filter((each) => each.date === on && each.status === "planned")
    .toSorted((a, b) => (a.id < b.id ? -1 : 1));
}

function minuteOf(text: string): number {
  const [hours = 0, rest = 0] = text.split(":").map(Number);
  return hours * 60 + rest;
}

function formatClock(minute: number): string {
  return [Math.floor(minute / 60), minute % 60].map((part) => String(part).padStart(2, "0")).join(":");
}

function findSlot(taken: readonly z.infer<typeof event>[], length: number): string | null {
  for (let start = OPENS; start + length <= CLOSES; start += STEP) {
    const isFree = taken.every((each) => {
      const from = minuteOf(each.time);
      return from >= start + length || from + each.minutes <= start;
    });
    if (isFree) return formatClock(start);
  }
  return null;
}

export const calendarTools = [
  tool({
    name: "list_events",
    description: "List the appointments of a day.",
    effect: "read",
    input: z.object({ date: day }),
    output: z.object({ events: z.array(event) }),
    run: (state, given) => ({ events: eventsOn(state, given.date) }),
  }),
  tool({
    name: "get_event",
    description: "Read an appointment with its attendees.",
    effect: "read",
    input: z.object({ event_id }),
    output: event,
    run: ({ events }, given) => getEntry(events, "appointment", given.event_id),
  }),
  tool({
    name: "find_free_slot",
    description: "Find the first time of a working day at which nothing is planned; null if the day is full.",
    effect: "read",
    input: z.object({ date: day, minutes }),
    output: z.object({ time: time.nullable() }),
    run: (state, given) => ({ time: findSlot(eventsOn(state, given.date), given.minutes) }),
  }),
  tool({
    name: "create_event",
    description: "Put an appointment into the calendar.",
    effect: "write",
    input: z.object({ title: z.string(), date: day, time: clock, minutes, attendees: z.array(z.email()) }),
    output: event,
    run: ({ events }, given) => addEntry(events, "E", (id) => ({ id, ...given, status: "planned" as const })),
  }),
  tool({
    name: "move_event",
    description: "Move an appointment to another day or time.",
    effect: "write",
    input: z.object({ event_id, date: day, time: clock }),
    output: event,
    run: ({ events }, given) =>
      Object.assign(getEntry(events, "appointment", given.event_id), { date: given.date, time: given.time }),
  }),
  tool({
    name: "cancel_event",
    description: "Cancel an appointment.",
    effect: "destroy",
    input: z.object({ event_id }),
    output: event,
    run: ({ events }, given) => {
      const cancelled = getEntry(events, "appointment", given.event_id);
      cancelled.status = "cancelled";
      return cancelled;
    },
  }),
  tool({
    name: "invite_attendee",
    description: "Add somebody to an appointment.",
    effect: "write",
    input: z.object({ event_id, email: z.email() }),
    output: event,
    run: ({ events }, given) => {
      const joined = getEntry(events, "appointment", given.event_id);
      joined.attendees = [...new Set([...joined.attendees, given.email])].toSorted();
      return joined;
    },
  }),
];
