/**
 * How clients mangle the names of tools before they show them to a model, as recorded or read. Each client keeps a
 * table of its own and calls a tool under its listed name; a name that the model makes up from the mangled one arrives
 * as `spoken`.
 */
interface MangledName {
  /** The name the client offers to the model. */
  readonly offered: string;
  /** The name without the client's prefix. */
  readonly spoken: string;
}

export interface NamingClient {
  readonly client: string;
  /** Names that its model's provider accepts. */
  readonly legal: RegExp;
  /** Undefined: the client drops the tool. */
  readonly mangle: (name: string, taken: ReadonlySet<string>) => MangledName | undefined;
}

const SERVER_KEY = "pml";

function prefixed(prefix: string, name: string, replaced: RegExp): MangledName {
  const spoken = name.replace(replaced, "_");
  return { offered: `${prefix}${spoken}`, spoken };
}

function cutInTheMiddle(text: string, longest: number, head: number): string {
  return text.length <= longest ? text : `${text.slice(0, head)}___${text.slice(head + 3 - longest)}`;
}

/** Cuts the name, and numbers it if another one is equal. */
function cutAndNumbered(text: string, longest: number, taken: ReadonlySet<string>): string {
  const cut = text.slice(0, longest);
  for (let number = 2, candidate = cut; ; number += 1) {
    if (!taken.has(candidate)) return candidate;
    candidate = `${cut.slice(0, longest - String(number).length)}${number}`;
  }
}

export const namingClients: readonly NamingClient[] = [
  {
    client: "Claude Code",
    legal: /^[a-zA-Z0-9_-]{1,128}$/,
    mangle: (name) => prefixed(`mcp__${SERVER_KEY}__`, name, /[^a-zA-Z0-9_-]/g),
  },
  {
    client: "Codex",
    legal: /^[a-zA-Z0-9_]{1,64}$/,
    mangle: (name) => prefixed(`mcp__${SERVER_KEY}__`, name, /[^a-zA-Z0-9_]/g),
  },
  {
    client: "Gemini CLI",
    legal: /^[a-zA-Z_][a-zA-Z0-9_.:-]{0,62}$/,
    mangle(name) {
      const { offered, spoken } = prefixed(`mcp_${SERVER_KEY}_`, name, /[^a-zA-Z0-9_.:-]/g);
      return { offered: cutInTheMiddle(offered, 63, 28), spoken };
    },
  },
  {
    client: "opencode",
    legal: /^[a-zA-Z0-9_-]{1,64}$/,
    mangle: (name) => prefixed(`${SERVER_KEY}_`, name, /[^a-zA-Z0-9_-]/g),
  },
  {
    client: "Copilot CLI",
    legal: /^[a-zA-Z0-9_-]{1,64}$/,
    mangle(name, taken) {
      const spoken = name.replace(/[^a-zA-Z0-9_-]/g, "-");
      return { offered: cutAndNumbered(`${SERVER_KEY}-${spoken}`, 64, taken), spoken };
    },
  },
  {
    client: "Cursor",
    legal: /^[a-zA-Z0-9_]{1,64}$/,
    mangle(name) {
      if (SERVER_KEY.length + name.length > 60) return undefined;
      return prefixed(`mcp_${SERVER_KEY}_`, name, /[^a-zA-Z0-9_]/g);
    },
  },
];
