import type { CurationSuggestion } from "../registry/curation-suggestion.ts";
import { LONGEST_NAME, parseName } from "../registry/names.ts";
import { clusterByTools } from "./clusters.ts";
import type { Nameable } from "./nameable.ts";
import { type ProposedName, proposeName } from "./propose-name.ts";

/** Proposes a name: the heuristics, or the outcome of a language model. */
export type Propose = (nameable: Nameable) => ProposedName;

/** Tells whether the capability may get the name: not taken, not promised, not rejected. */
export type IsFree = (id: string, name: string) => boolean;

/**
 * Suggests distinct names. Within a cluster of programs with the same tools, the highest confidence picks first.
 * Skips capabilities that already have the proposed name.
 */
export function suggestNames(
  nameables: readonly Nameable[],
  isFree: IsFree,
  propose: Propose = proposeName,
): CurationSuggestion[] {
  const given = new Set<string>();
  return clusterByTools(nameables).flatMap((cluster) =>
    cluster
      .map((nameable) => ({ nameable, proposed: propose(nameable) }))
      .toSorted((a, b) => b.proposed.confidence - a.proposed.confidence)
      .flatMap(({ nameable: { id, currentName }, proposed }) => {
        if (proposed.name === currentName) return [];
        const { name, confidence, reasoning } = findFreeVariant(
          proposed,
          (each) => !given.has(each) && isFree(id, each),
        );
        given.add(name);
        return [{ id, currentName, suggestedName: name, confidence, reasoning }];
      }),
  );
}

/** A variant describes the program less well. */
const VARIANT_FACTOR = 0.85;
const NUMBERED_FACTOR = 0.75;

type Variant = Pick<ProposedName, "name" | "confidence" | "reasoning">;

function findFreeVariant(proposed: ProposedName, isFree: (name: string) => boolean): Variant {
  const { name, confidence, reasoning, qualifiers } = proposed;
  if (isFree(name)) return proposed;
  const worded = qualifiers.map((word) => `${name}_${word}`).find((each) => isLegal(each) && isFree(each));
  const variant = worded ?? findNumbered(name, isFree);
  const factor = worded === undefined ? NUMBERED_FACTOR : VARIANT_FACTOR;
  return {
    name: variant,
    confidence: Math.round(confidence * factor * 100) / 100,
    reasoning: `${reasoning}; ${name} is taken or was rejected, so ${variant}`,
  };
}

function isLegal(name: string): boolean {
  return parseName(name) !== undefined;
}

const NUMBER_SUFFIX_LENGTH = 6;

function findNumbered(name: string, isFree: (name: string) => boolean): string {
  const base = name.slice(0, LONGEST_NAME - NUMBER_SUFFIX_LENGTH).replace(/_+$/, "");
  for (let number = 2; ; number += 1) {
    const numbered = `${base}_v${number}`;
    if (isFree(numbered)) return numbered;
  }
}
