/** What the kill switch and whoever pulls it have to agree on. */
export const KILL_AT_HEADER = "x-kill-at";
export const STATEMENTS_FILE = "PML_TORTURE_STATEMENTS";
