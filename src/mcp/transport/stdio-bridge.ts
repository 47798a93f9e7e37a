/** What the shim asks for when it turns an HTTP request into a raw connection. */
export const STDIO_PATH = "/stdio";
export const STDIO_UPGRADE = "pml-stdio";

/**
 * The last line of a daemon that ends on purpose. A shim then waits for the next message before it
 * starts another one; without it, the daemon died and is replaced at once.
 */
export const GOODBYE = `{"pml":"goodbye"}`;
