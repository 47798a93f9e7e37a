/** Protocol name with which the shim upgrades an HTTP request to a raw connection. */
export const STDIO_PATH = "/stdio";
export const STDIO_UPGRADE = "pml-stdio";

/**
 * Last line of a daemon that ends on purpose: the shim starts another one at the next message. Without it the daemon died,
 * and the shim replaces it at once.
 */
export const GOODBYE = `{"pml":"goodbye"}`;
