import { once } from "node:events";
import { type RunOptions, type RunResult, spawnPml, until } from "./pml.ts";

export interface LoginResult extends RunResult {
  /** The address that a person was sent to. */
  readonly url: string;
  /** What the browser was shown in the end. */
  readonly page: string;
}

/** `pml login` and a person with a browser who says yes. */
export async function logIn(server: string, options: RunOptions): Promise<LoginResult> {
  const child = spawnPml(["login", server], options);
  let stdout = "";
  let stderr = "";
  child.stdout?.setEncoding("utf8").on("data", (text: string) => (stdout += text));
  child.stderr?.setEncoding("utf8").on("data", (text: string) => (stderr += text));
  const closed = once(child, "close") as Promise<[number | null]>;
  const readUrl = (): string => /^https?:\S+$/m.exec(stderr)?.[0] ?? "";
  await until("the address is printed, or the command has ended", () => readUrl() !== "" || child.exitCode !== null);
  const url = readUrl();
  const page = url === "" ? "" : await (await fetch(url)).text();
  const [code] = await closed;
  return { code, stdout, stderr, url, page };
}
