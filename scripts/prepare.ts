/** After `npm ci` in a checkout: what the package build would otherwise bring. */
import { existsSync, symlinkSync } from "node:fs";
import { join, resolve } from "node:path";

const link = join(resolve(import.meta.dirname, ".."), "node_modules", ".bin", "pml");
// npm does not link a package's own command, and npx would install a copy of the checkout elsewhere.
if (!existsSync(link) && process.platform !== "win32") symlinkSync(join("..", "..", "bin", "pml.js"), link);
await import("./build-template.ts");
