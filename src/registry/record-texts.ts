import { shorten } from "../base/shorten.ts";
import { stripInvisible } from "../base/visible.ts";
import { TEXT_LIMITS } from "./record-words.ts";

export function fitDescription(description: string): string {
  return shorten(description, TEXT_LIMITS.description);
}

export function fitTags(tags: readonly string[]): string[] {
  return tags.slice(0, TEXT_LIMITS.tags).map((tag) => shorten(tag, TEXT_LIMITS.tag));
}

/** Cuts first, since stored texts may be of any length. */
export function showDescription(description: string): string {
  return stripInvisible(fitDescription(description));
}

export function showTags(tags: readonly string[]): string[] {
  return fitTags(tags).map(stripInvisible);
}
