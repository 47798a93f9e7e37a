import { ValueFinder } from "./value-finder.ts";

/** Finds values also as JSON writes them, and in base64 where a value was encoded on its own. */
export function createFinder(values: ReadonlySet<string>): ValueFinder | undefined {
  const forms = [...values].flatMap((value) => {
    const bytes = Buffer.from(value);
    return [value, JSON.stringify(value).slice(1, -1), bytes.toString("base64url"), withoutPadding(bytes)];
  });
  return forms.length === 0 ? undefined : new ValueFinder([...new Set(forms)]);
}

function withoutPadding(bytes: Buffer): string {
  return bytes.toString("base64").replace(/=+$/, "");
}

const ESCAPES = /\\u([0-9a-f]{4})|%([0-9a-f]{2})/gi;

export function holdsEncoded(text: string, finder: ValueFinder): boolean {
  if (!text.includes("%") && !text.includes(String.raw`\u`)) return false;
  return finder.has(
    text.replace(ESCAPES, (_all, unicode: string | undefined, byte: string) =>
      String.fromCharCode(Number.parseInt(unicode ?? byte, 16)),
    ),
  );
}
