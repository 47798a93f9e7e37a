import type { z } from "zod";
import { listCapabilitiesAnswer, listCapabilitiesRequest } from "./capabilities.ts";
import { curateAnswer, curateRequest } from "./curation.ts";
import { discoverAnswer, discoverRequest } from "./discover.ts";
import { executeAnswer, executeRequest } from "./execute.ts";
import {
  knownServersAnswer,
  knownServersRequest,
  knownToolsAnswer,
  knownToolsRequest,
  usageAnswer,
  usageRequest,
} from "./introspection.ts";
import {
  capabilityRequest,
  changedAnswer,
  feedbackAnswer,
  feedbackRequest,
  forkAnswer,
  forkRequest,
  historyAnswer,
  historyRequest,
  lookupAnswer,
  lookupRequest,
  mergeRequest,
  queryAnswer,
  queryRequest,
  renameAnswer,
  renameRequest,
  saveRequest,
  tagAnswer,
  tagRequest,
  updateRequest,
  whoisAnswer,
  whoisRequest,
} from "./records.ts";
import { taskResultPage, taskResultRequest } from "./task-result.ts";
import type { Sent, Received } from "./wire.ts";

export interface ToolContract {
  readonly name: string;
  readonly input: z.ZodObject;
  readonly answer: z.ZodType;
}

/**
 * The requests and answers of PML's own tools, by name. Besides its answer, each may answer `toolFailure`.
 * `cap:*` is not here: its answers are those of the programs that agents wrote.
 */
export const tools = {
  pml_execute: { name: "pml_execute", input: executeRequest, answer: executeAnswer },
  pml_discover: { name: "pml_discover", input: discoverRequest, answer: discoverAnswer },
  pml_get_task_result: { name: "pml_get_task_result", input: taskResultRequest, answer: taskResultPage },
  pml_list_capabilities: {
    name: "pml_list_capabilities",
    input: listCapabilitiesRequest,
    answer: listCapabilitiesAnswer,
  },
  pml_curate_capabilities: { name: "pml_curate_capabilities", input: curateRequest, answer: curateAnswer },
  "dns:lookup": { name: "dns:lookup", input: lookupRequest, answer: lookupAnswer },
  "dns:query": { name: "dns:query", input: queryRequest, answer: queryAnswer },
  "dns:whois": { name: "dns:whois", input: whoisRequest, answer: whoisAnswer },
  "dns:history": { name: "dns:history", input: historyRequest, answer: historyAnswer },
  "dns:rename": { name: "dns:rename", input: renameRequest, answer: renameAnswer },
  "dns:tag": { name: "dns:tag", input: tagRequest, answer: tagAnswer },
  "dns:fork": { name: "dns:fork", input: forkRequest, answer: forkAnswer },
  "dns:merge": { name: "dns:merge", input: mergeRequest, answer: changedAnswer },
  "dns:update": { name: "dns:update", input: updateRequest, answer: changedAnswer },
  "meta:tools": { name: "meta:tools", input: knownToolsRequest, answer: knownToolsAnswer },
  "meta:servers": { name: "meta:servers", input: knownServersRequest, answer: knownServersAnswer },
  "meta:stats": { name: "meta:stats", input: usageRequest, answer: usageAnswer },
  "learn:save": { name: "learn:save", input: saveRequest, answer: changedAnswer },
  "learn:feedback": { name: "learn:feedback", input: feedbackRequest, answer: feedbackAnswer },
  "learn:archive": { name: "learn:archive", input: capabilityRequest, answer: changedAnswer },
  "learn:delete": { name: "learn:delete", input: capabilityRequest, answer: changedAnswer },
  "learn:restore": { name: "learn:restore", input: capabilityRequest, answer: changedAnswer },
  "learn:curate": { name: "learn:curate", input: curateRequest, answer: curateAnswer },
} as const satisfies Readonly<Record<string, ToolContract>>;

export type ToolName = keyof typeof tools;
export type ToolInput<Name extends ToolName> = Sent<(typeof tools)[Name]["input"]>;
export type ToolAnswer<Name extends ToolName> = Received<(typeof tools)[Name]["answer"]>;
