import type { CreatedAt, Defaulted } from "./columns.ts";

export interface EmbeddingCacheTable {
  org: string;
  provider: string;
  text_hash: string;
  dimensions: number;
  vector: Uint8Array;
  created_at: CreatedAt;
}

export interface DiscoveryTallyTable {
  org: string;
  project: string;
  subject: string;
  tag: string;
  uses: Defaulted<number>;
  successes: Defaulted<number>;
  changed_at: Defaulted<Date>;
}

export interface DiscoveryIntentTable {
  org: string;
  project: string;
  subject: string;
  intent_hash: string;
  intent: string;
  uses: Defaulted<number>;
  changed_at: Defaulted<Date>;
  learned_at: Defaulted<Date>;
}

export interface RecallDecisionTable {
  org: string;
  project: string;
  principal: string;
  id: string;
  features: number[];
  confidence: number;
  was_right: boolean;
}
