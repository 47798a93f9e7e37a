/** The mirror over stdio: both eras, or with --legacy that of 2025. */
import { serveStdio, StdioServerTransport } from "@modelcontextprotocol/server/stdio";
import { createMirror } from "./mirror.ts";

if (process.argv.includes("--legacy")) await createMirror().connect(new StdioServerTransport());
else serveStdio(createMirror);
