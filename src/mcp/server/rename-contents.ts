import type { CallResult } from "../../gateway/call-tool.ts";

/**
 * A resource that was read, under the URI that the client asked for instead of the server's own. A
 * result that is a question has no contents yet and stays as it is.
 */
export function renameContents(result: CallResult, from: string, to: string): CallResult {
  const { contents } = result;
  if (from === to || !Array.isArray(contents)) return result;
  const renamed = (contents as { uri?: string }[]).map((each) => (each.uri === from ? { ...each, uri: to } : each));
  return { ...result, contents: renamed };
}
