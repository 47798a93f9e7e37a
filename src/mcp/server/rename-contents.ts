import type { CallResult } from "../../gateway/call-tool.ts";

/**
 * Renames a resource's contents from the server's URI to the one the client asked for. A question has no contents
 * and stays as it is.
 */
export function renameContents(result: CallResult, from: string, to: string): CallResult {
  const { contents } = result;
  if (from === to || !Array.isArray(contents)) return result;
  const renamed = (contents as { uri?: string }[]).map((each) => (each.uri === from ? { ...each, uri: to } : each));
  return { ...result, contents: renamed };
}
