export type { CapabilityAlias, CapabilityRecord, CapabilityVersion } from "../../../src/capabilities/record.ts";
export type { CurationSuggestion } from "../../../src/capabilities/curation-suggestion.ts";
