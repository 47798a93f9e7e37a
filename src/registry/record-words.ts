/** Words of the registry that also stand in requests and answers. They depend on nothing, so that clients can share them. */
export const VISIBILITIES = ["private", "project", "org", "public"] as const;
/** Readers of a record besides its creator: nobody, its project, its organisation, everybody. */
export type Visibility = (typeof VISIBILITIES)[number];
export const HEALTHS = ["pending", "green", "red", "flaky", "rejected"] as const;
export const ROUTINGS = ["local", "cloud"] as const;
export const RECORD_TYPES = ["capability", "mcp-server"] as const;
export const RECORD_STATES = ["draft", "active", "archived", "deleted"] as const;
export const RECORD_SORTS = ["name", "usage", "created"] as const;
export const CONFLICT_POLICIES = ["error", "version", "suffix"] as const;
export const CACHE_POLICIES = ["none", "memoize", "persistent"] as const;

/**
 * Largest texts that agents give to records and runs, in characters. Requests with larger ones are refused; those that come
 * from elsewhere, or from before there were limits, are cut when they are read.
 */
export const TEXT_LIMITS = { description: 1_024, intent: 4_096, changeSummary: 1_024, tags: 32, tag: 64 } as const;
