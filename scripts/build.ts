/** Builds the package: JavaScript, migrations, and the template of the embedded database. */
import { execFileSync } from "node:child_process";
import { cpSync, rmSync } from "node:fs";
import { join, resolve } from "node:path";

const root = resolve(import.meta.dirname, "..");
const dist = join(root, "dist");

for (const part of ["src", "lib"]) rmSync(join(dist, part), { recursive: true, force: true });
execFileSync(join(root, "node_modules", ".bin", "tsc"), ["-p", "tsconfig.build.json"], { cwd: root, stdio: "inherit" });
cpSync(join(root, "src", "db", "migrations"), join(dist, "src", "db", "migrations"), { recursive: true });
execFileSync(process.execPath, [join(root, "scripts", "build-template.ts")], { cwd: root, stdio: "inherit" });
