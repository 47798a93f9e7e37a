import { setTimeout as sleep } from "node:timers/promises";
import { PmlError } from "../base/errors.ts";
import { toVisible } from "../base/visible.ts";

export interface Confirmation {
  /** Everything the decision is about; commands to the terminal in it are shown, not obeyed. */
  readonly shown: string;
  /** For example: Let it run once? */
  readonly question: string;
  /** Where else a person can decide; named where there is no terminal. */
  readonly elsewhere: string;
}

/** Long enough for a terminal to hand over keys that were typed or pasted before the question stood there. */
const TYPED_AHEAD_MS = 200;

/** Shows a decision and waits for the key that takes it. Throws if nobody sits at a terminal, or for any other key. */
export async function confirmAtTerminal({ shown, question, elsewhere }: Confirmation): Promise<void> {
  const { stdin, stdout } = process;
  if (!stdin.isTTY || !stdout.isTTY) {
    throw new PmlError("person_needed", "This is a decision of a person, and there is no terminal to ask one", {
      hint: `Run the command in a terminal, or decide here: ${elsewhere}`,
      details: { address: elsewhere },
    });
  }
  stdout.write(`${toVisible(shown)}\n\n`);
  if ((await readKey(() => stdout.write(`${toVisible(question)} y: yes, any other key: no `))).toLowerCase() !== "y") {
    stdout.write("no\n");
    throw new PmlError("person_needed", "Nothing was decided", { hint: `To decide later: ${elsewhere}` });
  }
  stdout.write("yes\n");
}

/** Reads one key after the question; keys from before it are dropped, and several at once are a paste and no answer. */
async function readKey(ask: () => void): Promise<string> {
  const { stdin } = process;
  stdin.setRawMode(true).resume(); // a stream that flows to nobody drops what it reads
  try {
    await sleep(TYPED_AHEAD_MS);
    const { promise, resolve } = Promise.withResolvers<string>();
    const read = (keys: Buffer | string): void => resolve(String(keys));
    const end = (): void => resolve("");
    stdin.once("data", read).once("end", end);
    ask();
    const keys = await promise;
    stdin.off("data", read).off("end", end);
    return keys;
  } finally {
    stdin.setRawMode(false).pause();
  }
}
