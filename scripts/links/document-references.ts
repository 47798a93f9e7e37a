/** References that a Markdown document makes to other files of the repository. */

const FENCE = /^(`{3,}|~{3,}).*?^\1\s*$/gms;
const CODE_SPAN = /`[^`\n]+`/g;
const LINK = /\[[^\]]*\]\(([^)\s]+)\)/g;
const HEADING = /^#{1,6} +(.+)$/gm;
const EXTERNAL = /^[a-z][a-z0-9+.-]*:/i;
/** `src/db/*.ts` is a path, `org/src/db` and `docs/<topic>.md` are none. */
const PATH = /(?<![\w./@<-])(?:src|lib|test|scripts|bench|bin|docs|models)\/[\w.*{},/-]*(?![\w<…])/g;
const SOURCE_FILE = /^`([\w-]+\.(?:ts|mjs))`$/;

/** Targets of the document's relative links, with their anchors. */
export function findLinks(text: string): string[] {
  const prose = text.replaceAll(FENCE, "").replaceAll(CODE_SPAN, "");
  return [...prose.matchAll(LINK)].flatMap(([, target = ""]) => (EXTERNAL.test(target) ? [] : [target]));
}

/** Paths below the repository's root, anywhere but as the target of a link. */
export function findPaths(text: string): string[] {
  return [...new Set([...text.replaceAll(LINK, "").matchAll(PATH)].map(([path]) => path.replace(/[.,]+$/, "")))];
}

/** Names of source files that stand alone as code, such as `run-keeper.ts`. */
export function findFileNames(text: string): string[] {
  const spans = text.replaceAll(FENCE, "").match(CODE_SPAN) ?? [];
  return [...new Set(spans.flatMap((span) => SOURCE_FILE.exec(span)?.[1] ?? []))];
}

/** Anchors of the document's headings, as GitHub derives them. */
export function findAnchors(text: string): Set<string> {
  const headings = [...text.replaceAll(FENCE, "").matchAll(HEADING)];
  const names = [...text.matchAll(/<a (?:id|name)="([^"]+)"/g)].map(([, name = ""]) => name);
  return new Set([...names, ...headings.map(([, title = ""]) => toAnchor(title))]);
}

function toAnchor(title: string): string {
  return title
    .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, "$1")
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, "")
    .trim()
    .replaceAll(/\s/g, "-");
}
