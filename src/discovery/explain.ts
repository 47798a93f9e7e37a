import type { Companion } from "./companions.ts";
import type { FieldName, QueryWord } from "./bm25f.ts";
import type { Evidence, EvidencePart, Ranked, SearchTier } from "./search.ts";
import { smoothedRate, type TrackRecord } from "./track-record.ts";

/** Lists the query's words by the field they occur in. */
export function explainWords(query: readonly QueryWord[], fieldsOf: (word: string) => readonly FieldName[]): string {
  const places = new Map<FieldName, string[]>();
  for (const { word } of query) {
    for (const field of fieldsOf(word)) places.set(field, [...(places.get(field) ?? []), word]);
  }
  return [...places].map(([field, words]) => `${field}: ${words.join(", ")}`).join("; ");
}

export function explainMeaning(tier: SearchTier, cosine: number): string {
  if (tier === "lexical") return "";
  const by = tier === "full" ? "by the model" : "by its word vectors";
  return `similarity ${cosine.toFixed(2)} ${by}`;
}

export function explainCompanion({ of, share }: Companion): string {
  return `used together with ${of} in ${Math.round(share * 100)} % of its uses`;
}

export function explainStanding(
  known: TrackRecord | undefined,
  contextTags: readonly string[],
): Partial<Record<Evidence, string>> {
  if (known === undefined) return {};
  const tags = contextTags.flatMap((tag) => {
    const tally = known.tags.get(tag);
    return tally === undefined ? [] : [`${tag}: ${tally.successes} of ${tally.uses} succeeded`];
  });
  const rate = smoothedRate(known).toFixed(2);
  return {
    record: known.uses === 0 ? "" : `${known.successes} of ${known.uses} uses succeeded, smoothed rate ${rate}`,
    context: tags.join("; "),
  };
}

/** Leaves out evidence without a text. */
export function describeParts(
  parts: Readonly<Record<Evidence, number>>,
  texts: Partial<Record<Evidence, string>>,
): Ranked["why"] {
  const entries = Object.entries(parts).flatMap(([name, points]): [string, EvidencePart][] => {
    const text = texts[name as Evidence] ?? "";
    return text === "" ? [] : [[name, { points: Math.round(points * 1000) / 1000, text }]];
  });
  return Object.fromEntries(entries);
}
