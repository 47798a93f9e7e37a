import { parseToolId } from "../catalogue/tool-id.ts";
import { propertiesOf } from "./schema-words.ts";
import type { ToolNote } from "./nameable.ts";
import { findVerb, splitWords } from "./verbs.ts";

/** A tool's name, parsed into verb and object. */
export interface ToolWords {
  readonly id: string;
  readonly verb: string | undefined;
  readonly target: readonly string[];
  /** Words after the object (`by email`). */
  readonly rest: readonly string[];
  readonly words: readonly string[];
  readonly effect: ToolEffect;
}

/** `tell` changes nothing but that somebody is told; in a program it mostly accompanies another change. */
type ToolEffect = "read" | "tell" | "change";

/** Plain words for protocol verbs. */
const PLAIN_VERBS: Readonly<Record<string, string>> = {
  post: "create",
  put: "save",
  patch: "update",
  retrieve: "get",
  describe: "get",
  stat: "get",
  modify: "change",
};

/** Verbs of tools that are nouns too often to be read as verbs in a sentence. */
const TOOL_VERBS = new Set(
  `accept activate apply attach ban block borrow change charge checkin claim comment complete confirm deactivate decline deposit
  dispatch escalate exchange extend finish flag grant hold issue lend log lower mute offer pick place promote put quote
  reassign redeem reject rebook rent reschedule resend return score ship snooze star stat swap tip transition unassign
  unflag unshare untag vote waive withdraw modify post patch`.split(/\s+/),
);

const READING = new Set(
  `get list find search query read count fetch check describe show look lookup retrieve view stat think calculate compute compare
  estimate validate verify scan inspect quote preview track download load blame diff`.split(/\s+/),
);

const TELLING = new Set(
  `send notify reply comment post message email mail remind warn alert log forward tell`.split(/\s+/),
);

/** Words that end the object in a tool's name. */
const ENDS = new Set(["by", "for", "from", "in", "with", "on", "of", "at", "as"]);
const LONGEST_TARGET = 3;

/** `slack:slack_list_channels` means to list channels; words before the verb are a prefix. */
export function readToolName(id: string, note?: ToolNote): ToolWords {
  const ref = parseToolId(id);
  const server = splitWords(ref.server);
  const whole = splitWords(ref.tool);
  const start = whole.findIndex((word) => !server.includes(word));
  const words = start < 0 ? whole : whole.slice(start);
  const at = words.findIndex((word) => findToolVerb(word) !== undefined);
  if (at < 0) return { id, verb: undefined, ...splitTarget(words), words: [...server, ...words], effect: "read" };
  const found = findToolVerb(words[at] ?? "") ?? "";
  const { target, rest } = splitTarget(words.slice(at + 1));
  return {
    id,
    verb: PLAIN_VERBS[found] ?? found,
    target: target.length === 0 ? findEntity(note).slice(0, 1) : target,
    rest,
    words: [...server, ...words],
    // A log without an object is one that is read: `git_log`.
    effect: target.length === 0 && found === "log" ? "read" : findEffect(found, note),
  };
}

function splitTarget(words: readonly string[]): Pick<ToolWords, "target" | "rest"> {
  const found = words.findIndex((word, index) => index > 0 && ENDS.has(word));
  const end = found < 0 ? words.length : found;
  return { target: words.slice(0, Math.min(end, LONGEST_TARGET)), rest: words.slice(end) };
}

export function findToolVerb(word: string): string | undefined {
  return TOOL_VERBS.has(word) ? word : findVerb(word);
}

function findEffect(verb: string, note: ToolNote | undefined): ToolEffect {
  if (note?.readOnly === true || READING.has(verb)) return "read";
  return TELLING.has(verb) ? "tell" : "change";
}

/** The things whose ids a tool takes: `message` for `message_id`. */
export function findEntity(note: ToolNote | undefined): string[] {
  return Object.keys(propertiesOf(note?.inputSchema)).flatMap((name) => {
    const entity = /^([a-z]+)_?(?:id|number)$/i.exec(name)?.[1];
    return entity === undefined ? [] : [entity.toLowerCase()];
  });
}
