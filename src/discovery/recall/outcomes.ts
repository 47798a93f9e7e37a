import { BoundedMap } from "../../base/bounded-map.ts";
import type { Db } from "../../db/client.ts";
import { OWNER, type Scope } from "../../registry/scope.ts";
import { type Decision, fitWeights, isProven } from "./confidence.ts";
import { findGroup, readDecisions, writeDecision } from "./decision-store.ts";

/** A suggestion whose outcome is not known yet. */
export interface OpenSuggestion {
  /** The suggested capability, or its group. */
  readonly group: string;
  readonly features: readonly number[];
  readonly confidence: number;
}

/** How sure suggestions to one principal may be. */
export interface Calibration {
  readonly weights: readonly number[];
  /** True once its decisions show that what is called sure is right. */
  readonly isProven: boolean;
}

const MAX_OPEN = 200;
const MAX_PRINCIPALS = 50;

/** Learns from what agents ran after a suggestion. Each principal's decisions count for that principal alone. */
export class Outcomes {
  readonly #db: Db;
  readonly #scope: Scope;
  readonly #open = new BoundedMap<string, OpenSuggestion>(MAX_OPEN);
  readonly #calibrations = new BoundedMap<string, Calibration>(MAX_PRINCIPALS);

  constructor(db: Db, scope: Scope) {
    this.#db = db;
    this.#scope = scope;
  }

  async calibrationOf(principal = OWNER): Promise<Calibration> {
    const known = this.#calibrations.get(principal);
    if (known !== undefined) return known;
    const decisions = await readDecisions(this.#db, { scope: this.#scope, principal });
    const calibration = { weights: fitWeights(decisions), isProven: isProven(decisions) };
    this.#calibrations.set(principal, calibration);
    return calibration;
  }

  /** Waits for what the same principal runs with the same intent. */
  suggested({ principal = OWNER, intent }: Asked, suggestion: OpenSuggestion): void {
    this.#open.set(keyOf(principal, intent), suggestion);
  }

  /** Notes which capability was run; nothing, if nothing was suggested for the intent. */
  async ran({ principal = OWNER, intent }: Asked, id: string): Promise<void> {
    const key = keyOf(principal, intent);
    const open = this.#open.get(key);
    if (open === undefined) return;
    this.#open.delete(key);
    const right = open.group === (await findGroup(this.#db, this.#scope.org, id));
    const decision: Decision = { features: open.features, confidence: open.confidence, right };
    await writeDecision(this.#db, { scope: this.#scope, principal }, decision);
    this.#calibrations.delete(principal);
  }
}

interface Asked {
  /** Undefined for the owner of the gateway. */
  readonly principal: string | undefined;
  readonly intent: string;
}

function keyOf(principal: string, intent: string): string {
  return JSON.stringify([principal, intent]);
}
