export interface TestOutcome {
  readonly name: string;
  readonly status: string;
}

/** The tests of one run, as vitest reports them. */
export interface TestReport {
  readonly tests: readonly TestOutcome[];
  /** Files that failed outside any test, such as in a hook. */
  readonly brokenFiles: readonly string[];
}

export type Verdict = "caught" | "caught by timeout" | "survived" | "not shown";

export interface Judgement {
  readonly verdict: Verdict;
  /** The first test that failed, or the ids that no failing test claims. */
  readonly detail: string;
}

/** The tests of a defect must fail for each of its ids; one id that no failing test claims lets it survive. */
export function judge(ids: readonly string[], report: TestReport | "timeout"): Judgement {
  if (report === "timeout") return { verdict: "caught by timeout", detail: "" };
  const ran = report.tests.filter(({ status }) => status === "passed" || status === "failed");
  const failed = ran.filter(({ status }) => status === "failed");
  const [brokenFile] = report.brokenFiles;
  if (failed.length === 0 && brokenFile !== undefined) return { verdict: "caught", detail: `${brokenFile} as a whole` };
  if (ran.length === 0) return { verdict: "not shown", detail: "no test claims an id" };
  const unnoticed = ids.filter((id) => !failed.some(({ name }) => name.includes(`[${id}]`)));
  const first = failed[0]?.name ?? "";
  if (first === "") return { verdict: "survived", detail: ids.join(" ") };
  if (unnoticed.length > 0) return { verdict: "survived", detail: `no failing test claims ${unnoticed.join(" ")}` };
  return { verdict: "caught", detail: first };
}

/** Says why the tests cannot judge a defect: they do not pass, or do not run, without it. */
export function findUnsound(report: TestReport | "timeout"): string | undefined {
  if (report === "timeout") return "its tests ran out of time without the defect";
  const failed = report.tests.find(({ status }) => status === "failed")?.name ?? report.brokenFiles[0];
  return failed === undefined ? undefined : `fails without the defect: ${failed}`;
}
