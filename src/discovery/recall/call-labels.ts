/** A call in a program: its tool and the names of its arguments. */
export interface ProgramCall {
  readonly tool: string;
  readonly argumentNames: readonly string[];
}

/** Labels that describe the calls of a program: each tool, its arguments, how often it is called. */
export function labelCalls(calls: readonly ProgramCall[]): ReadonlySet<string> {
  const labels = new Set<string>();
  for (const [tool, group] of Map.groupBy(calls, (call) => call.tool)) {
    labels.add(tool);
    for (const { argumentNames } of group) labels.add(`${tool}(${argumentNames.toSorted().join(",")})`);
    if (group.length === 2) labels.add(`${tool} twice`);
    if (group.length > 2) labels.add(`${tool} several`);
  }
  return labels;
}
