import { type ErrorKind, EXIT } from "./error-kind.ts";

/** Errors about what is behind names: servers, signatures. */
export const RECORD_ERRORS = {
  server_json_invalid: {
    id: "PML-E8001",
    exit: EXIT.failed,
    meaning: "A `server.json` is not JSON or does not follow the rules of the official registry's schema.",
  },
  server_version_exists: {
    id: "PML-E8002",
    exit: EXIT.failed,
    meaning: "A version of an MCP server is registered already with another content; published versions do not change.",
  },
  signature_invalid: {
    id: "PML-E8003",
    exit: EXIT.refused,
    meaning: "A version's signature does not fit its content, or is not by a key that is trusted here.",
  },
} as const satisfies Record<string, ErrorKind>;
