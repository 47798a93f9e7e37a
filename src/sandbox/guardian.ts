import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import type { Logger } from "../base/log.ts";

/**
 * Reads lines of `+ pid` and `- pid`, and kills the listed processes when its input ends. Ignores the signals of a
 * terminal, because the gateway also gets them and may still shut down in order.
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
 * Kills all children when the gateway dies, even by SIGKILL. An idle child notices by itself that stdin closed; a
 * computing one does not. So a shell of a few hundred kilobytes waits for the end of the gateway.
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

  /** Stops the shell; call it when no child is left. */
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
    // Has its own process group: a signal to the gateway's group must not end it as well.
    const shell = spawn("/bin/sh", ["-c", SCRIPT], { stdio: ["pipe", "ignore", "ignore"], detached: true, env: {} });
    const complain = (error: Error): void =>
      this.#log.warn(
        { error: error.message },
        "sandbox processes may outlive PML if it is killed: the guardian failed",
      );
    shell.on("error", complain);
    shell.stdin.on("error", complain);
    shell.unref();
    return shell;
  }
}
