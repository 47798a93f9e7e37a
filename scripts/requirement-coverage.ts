export interface TestEvidence {
  readonly test: string;
  readonly status: string;
}

export interface Section {
  readonly title: string;
  readonly covered: readonly string[];
  readonly missing: readonly string[];
}

export interface Summary {
  readonly total: number;
  readonly covered: number;
  /** Ids that the document withdraws, with the reason beside them; they count neither way. */
  readonly withdrawn: readonly string[];
  readonly sections: readonly Section[];
  /** Ids that tests claim but the list lacks: most likely typos. */
  readonly unknown: readonly string[];
  /** Ids that tests claim although the list withdraws them. */
  readonly contradictory: readonly string[];
}

const SECTION = /^## (.+)$/;
const ROW = /^\| ([A-Za-z0-9.-]+) \|/;
const CLAIM = /\[([A-Za-z0-9.-]+)\]/g;
/** Requirements refer to rows of the decision table, which are not requirements themselves. */
const DECISION = /^K\d+$/;
const WITHDRAWN = "Withdrawn";

export function summarise(requirements: string, evidence: readonly TestEvidence[]): Summary {
  const shown = claimed(evidence.filter(({ status }) => status === "passed"));
  const contradicted = claimed(evidence.filter(({ status }) => status === "failed"));
  const isCovered = (id: string): boolean => shown.has(id) && !contradicted.has(id);
  const known = readSections(requirements);
  const withdrawn = new Set(known.find(({ title }) => title === WITHDRAWN)?.ids);
  const standing = known.map(({ title, ids }) => ({ title, ids: ids.filter((id) => !withdrawn.has(id)) }));
  const sections = standing
    .filter(({ ids }) => ids.length > 0)
    .map(({ title, ids }) => ({
      title,
      covered: ids.filter(isCovered),
      missing: ids.filter((id) => !isCovered(id)),
    }));
  const all = new Set(standing.flatMap(({ ids }) => ids));
  return {
    total: all.size,
    covered: [...all].filter(isCovered).length,
    withdrawn: [...withdrawn],
    sections,
    unknown: [...shown].filter((id) => !all.has(id) && !withdrawn.has(id)),
    contradictory: [...shown].filter((id) => withdrawn.has(id)),
  };
}

function readSections(text: string): { title: string; ids: string[] }[] {
  const sections: { title: string; ids: string[] }[] = [];
  for (const line of text.split("\n")) {
    const title = SECTION.exec(line)?.[1];
    if (title !== undefined) sections.push({ title, ids: [] });
    const id = ROW.exec(line)?.[1];
    if (id !== undefined && id !== "id" && id !== "key" && !DECISION.test(id)) sections.at(-1)?.ids.push(id);
  }
  return sections.filter(({ ids }) => ids.length > 0);
}

function claimed(evidence: readonly TestEvidence[]): Set<string> {
  return new Set(evidence.flatMap(({ test }) => [...test.matchAll(CLAIM)].map(([, id = ""]) => id)));
}
