import type { EffectClaims } from "./effect.ts";

/** The parts of a tool's definition that may say what it does. */
export interface DescribedEffect {
  readonly name: string;
  readonly description?: string | undefined;
  readonly inputSchema?: Readonly<Record<string, unknown>> | undefined;
  readonly annotations?: EffectClaims | null | undefined;
}

const words = (list: string): ReadonlySet<string> => new Set(list.split(/\s+/));

const READING = words(
  `get gets getting list lists listing read reads reading search searches find finds fetch fetches show shows describe
  describes count counts view views lookup look retrieve retrieves return returns check checks inspect inspects status info
  summarize summarizes compare compares browse preview`,
);

/** Words of change. One of them anywhere, also in a denial, makes a tool no candidate. */
const CHANGING = words(
  `create creates created update updates updated delete deletes deleted remove removes removed write writes written put puts
  send sends add adds insert inserts patch patches drop drops execute executes exec run runs apply applies move moves rename
  renames upload uploads push pushes approve approves reject rejects cancel cancels start starts stop stops kill kills reset
  resets clear clears save saves edit edits modify modifies replace replaces publish publishes restore restores sync syncs
  import imports install installs uninstall enable enables disable disables grant grants revoke revokes assign assigns
  invite invites pay pays refund refunds buy buys submit submits trigger triggers invoke invokes deploy deploys destroy
  destroys purge purges wipe wipes overwrite overwrites append appends lock locks unlock unlocks register registers
  subscribe subscribes generate generates`,
);

/** Words that are things as well, as in `list_orders`; they change something where they are the verb. */
const CHANGING_AS_VERB = words(
  `set sets post posts commit commits merge merges close closes open opens archive archives store stores change changes
  charge charges transfer transfers order orders book books reserve reserves call calls schedule schedules mark marks sign
  signs make makes build builds reply replies respond responds forward forwards share shares connect connects`,
);

/** Arguments that carry something to be stored or run. */
const CARRYING = words(
  `body content contents payload data value sql command cmd script code statement statements method mutation message
  force overwrite confirm patch changes updates`,
);

/**
 * True for a tool whose server says nothing about its effect, and whose name, arguments and text all say that it only
 * reads. That is a proposal for a person, never a decision: the server wrote all of it.
 */
export function seemsToRead({ name, description = "", inputSchema, annotations }: DescribedEffect): boolean {
  if (!isSilent(annotations) || !isNamedForReading(split(name)) || !isToldToRead(description)) return false;
  const parameters = Object.keys(inputSchema?.["properties"] ?? {});
  return !parameters.flatMap(split).some((word) => CARRYING.has(word) || CHANGING.has(word));
}

/** The verb comes first, or after the name of a product: `crm_get_customer`. */
function isNamedForReading(named: readonly string[]): boolean {
  const verb = named.slice(0, 2).findIndex((word) => READING.has(word));
  if (verb < 0 || named.some((word) => CHANGING.has(word))) return false;
  return !named.slice(0, verb).some((word) => CHANGING_AS_VERB.has(word));
}

function isToldToRead(description: string): boolean {
  const sentences = description.split(/[.!?;:\n]+/).map(split);
  const told = sentences.flat();
  const verbs = sentences.flatMap((sentence) => sentence.slice(0, 1));
  if (told.some((word) => CHANGING.has(word)) || verbs.some((word) => CHANGING_AS_VERB.has(word))) return false;
  return told.some((word) => READING.has(word));
}

/** True if the annotations make no claim about the effect. */
function isSilent(annotations: EffectClaims | null | undefined): boolean {
  const { readOnlyHint, destructiveHint, idempotentHint } = annotations ?? {};
  return readOnlyHint === undefined && destructiveHint === undefined && idempotentHint === undefined;
}

/** `listOpenIssues` and `list_open_issues` are the same words. */
function split(text: string): string[] {
  return text
    .replace(/([a-z0-9])([A-Z])/g, "$1 $2")
    .toLowerCase()
    .split(/[^a-z]+/)
    .filter(Boolean);
}
