/** Names shared by the kill switch and the process that triggers it. */
export const KILL_AT_HEADER = "x-kill-at";
export const STATEMENTS_FILE = "PML_TORTURE_STATEMENTS";
