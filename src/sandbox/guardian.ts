import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import type { Logger } from "../base/log.ts";

/**
 * Lists processes by lines of `+ pid` and `- pid`, and kills those on the list when its input ends. It ignores the
 * signals of a terminal, because the gateway that gets them too may still want to end in order.
 */
const SCRIPT = `trap '' HUP INT TERM
list=' '
while read -r sign pid; do
  case $sign in
    +) list="$list$pid " ;;
    -) case $list in *" $pid "*) list="\${list%% $pid *} \${list#* $pid }" ;; esac ;;
  esac
done
for pid in $list; do kill -9 "$pid"; done 2>/dev/null
`;

/**
 * Makes sure that no child outlives the gateway, however that ends. A child that waits notices by itself; one that computes
 * does not, and the gateway cannot tell it when it is killed. So a shell of a few hundred kilobytes waits for that.
 */
export class Guardian implements AsyncDisposable {
  readonly #log: Logger;
  #shell: ChildProcess | undefined;

  constructor(log: Logger) {
    this.#log = log;
  }

  add(pid: number): void {
    this.#tell(`+ ${pid}\n`);
  }

  remove(pid: number): void {
    this.#tell(`- ${pid}\n`);
  }

  /** To be called when no child is left. */
  async [Symbol.asyncDispose](): Promise<void> {
    const shell = this.#shell;
    if (shell === undefined || shell.exitCode !== null || shell.signalCode !== null) return;
    shell.ref();
    const ended = once(shell, "exit");
    shell.stdin?.end();
    await ended;
  }

  #tell(line: string): void {
    // Windows ends the children of a process with it.
    if (process.platform === "win32") return;
    this.#shell ??= this.#start();
    if (this.#shell.stdin?.writable === true) this.#shell.stdin.write(line);
  }

  #start(): ChildProcess {
    // In a group of its own: what ends the gateway's group must not end it as well.
    const shell = spawn("/bin/sh", ["-c", SCRIPT], { stdio: ["pipe", "ignore", "ignore"], detached: true, env: {} });
    const complain = (error: Error): void =>
      this.#log.warn({ error: error.message }, "nothing watches over the sandbox's processes should PML be killed");
    shell.on("error", complain);
    shell.stdin.on("error", complain);
    shell.unref();
    return shell;
  }
}
