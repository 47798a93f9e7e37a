import type { CreatedAt, Defaulted, Nullable, Time } from "./columns.ts";

export interface CapabilitySuggestionTable {
  org: string;
  id: string;
  project: string;
  record_id: string;
  suggested_name: string;
  confidence: number;
  reasoning: string;
  source: "heuristic" | "model" | "sampling";
  fate: Defaulted<"pending" | "accepted" | "edited" | "rejected" | "superseded">;
  final_name: Nullable<string>;
  decided_via: Nullable<"auto" | "user" | "agent">;
  created_at: CreatedAt;
  decided_at: Time;
}
