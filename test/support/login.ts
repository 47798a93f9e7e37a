import { once } from "node:events";
import { type PmlOptions, type RunResult, spawnPml, until } from "./pml.ts";

export interface LoginResult extends RunResult {
  /** The login page's address. */
  readonly url: string;
  /** The last page in the browser. */
  readonly page: string;
}

/** Runs `pml login` with a person who accepts in the browser. */
export async function logIn(server: string, options: PmlOptions): Promise<LoginResult> {
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
