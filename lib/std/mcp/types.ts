export type { CapabilityAlias, CapabilityRecord, CapabilityVersion } from "../../../src/registry/record.ts";
export type { CurationSuggestion } from "../../../src/registry/curation-suggestion.ts";
