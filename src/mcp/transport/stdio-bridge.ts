/** Protocol name with which the shim upgrades an HTTP request to a raw connection. */
export const STDIO_PATH = "/stdio";
export const STDIO_UPGRADE = "pml-stdio";

/** Carries the secret that only shims of this PML_HOME can read. */
export const SHIM_SECRET_HEADER = "x-pml-shim-secret";

/**
 * Last line of a daemon that ends on purpose: the shim starts another one at the next message. Without it the daemon died,
 * and the shim replaces it at once.
 */
export const GOODBYE = `{"pml":"goodbye"}`;
