/** Copies of the checkout in which defects are tried, so that nobody's own files change. */
import { execFileSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { changedFiles, type Mutant } from "./mutant.ts";

export interface Checkout extends Disposable {
  readonly path: string;
  /** Applies the defect's patch; throws where it no longer fits. */
  apply(mutant: Mutant): void;
  /** Takes the patch back. */
  restore(mutant: Mutant): void;
}

/** Folders that git does not know and tests need: linked if nothing writes there, else copied. */
const LINKED = ["node_modules"];
const COPIED = ["dist"];

export function copyCheckout(root: string): Checkout {
  const path = mkdtempSync(join(tmpdir(), "pml-mutants-"));
  for (const file of listFiles(root)) copy(root, path, file);
  for (const folder of LINKED) symlinkSync(join(root, folder), join(path, folder));
  for (const folder of COPIED) copy(root, path, folder);
  return {
    path,
    apply(mutant) {
      try {
        // Outside any repository git takes the paths as they stand, below the working directory.
        const env = { ...process.env, GIT_DIR: join(path, "no-repository") };
        const args = ["apply", "--recount", "--whitespace=nowarn", `-C${neededContext(mutant.patch)}`, "-"];
        execFileSync("git", args, { cwd: path, env, input: mutant.patch, stdio: "pipe" });
      } catch (error) {
        const reason = String((error as { stderr?: unknown }).stderr ?? error).trim();
        throw new Error(`${mutant.name}: the patch no longer applies: ${reason}`, { cause: error });
      }
    },
    restore(mutant) {
      for (const file of changedFiles(mutant.patch)) {
        rmSync(join(path, file), { force: true });
        copy(root, path, file);
      }
    },
    [Symbol.dispose]() {
      rmSync(path, { recursive: true, force: true });
    },
  };
}

/** Lines that a patch takes away say where it belongs, whatever became of their neighbours. */
function neededContext(patch: string): number {
  const hunks = patch.split(/^@@.*$/m).slice(1);
  return hunks.every((hunk) => /^-/m.test(hunk)) ? 0 : 1;
}

/** Tracked files and new ones that git does not ignore, as they are in the working tree. */
function listFiles(root: string): string[] {
  const args = ["ls-files", "-z", "--cached", "--others", "--exclude-standard"];
  return execFileSync("git", args, { cwd: root, encoding: "utf8", maxBuffer: 64 << 20 })
    .split("\0")
    .filter((file) => file !== "" && !LINKED.includes(file));
}

function copy(root: string, target: string, path: string): void {
  if (!existsSync(join(root, path))) return;
  mkdirSync(dirname(join(target, path)), { recursive: true });
  cpSync(join(root, path), join(target, path), { recursive: true });
}
