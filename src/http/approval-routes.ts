import type { IncomingMessage, ServerResponse } from "node:http";
import { userInfo } from "node:os";
import { z } from "zod";
import type { App } from "../app/app.ts";
import { PmlError } from "../base/errors.ts";
import { type Approval, type ApprovalDecision, notFound, readAnswer } from "../permissions/approval.ts";
import { renderAnswer, renderApproval, renderKeyForm, renderProblem, sendPage } from "./approval-page.ts";
import type { DecisionKey } from "./decision-key.ts";
import { answer, type Route } from "./http-server.ts";
import { readBody } from "./read-body.ts";

type ApprovalAccess = Pick<App, "permissions" | "scope">;

/** What waits for people. Reading takes the token, as everywhere; deciding takes the key of the person. */
export function createApprovalRoutes(app: App, key: DecisionKey): Route[] {
  const { permissions, scope } = app;
  return [
    {
      method: "GET",
      path: "/api/inbox",
      handle: (request, response) => answer(response, () => listInbox(app, request)),
    },
    {
      method: "GET",
      path: "/api/approvals/:id",
      handle: (_request, response, { id = "" }) => answer(response, () => getApproval(app, id)),
    },
    {
      method: "POST",
      path: "/api/approvals/:id/decision",
      handle: (request, response, { id = "" }) =>
        answer(response, async () => {
          checkKey(request, key);
          return permissions.decideApproval(scope, id, await readDecision(request));
        }),
    },
    {
      method: "GET",
      path: "/api/rules",
      handle: (_request, response) => answer(response, () => permissions.listRules(scope)),
    },
    {
      method: "GET",
      path: "/api/rules/test",
      handle: (request, response) => answer(response, () => app.decideTool(readQuery(request).get("tool") ?? "")),
    },
    {
      method: "POST",
      path: "/api/rules/:id/remove",
      handle: (request, response, { id = "" }) =>
        answer(response, async () => {
          checkKey(request, key);
          return permissions.removeRule(scope, id, person());
        }),
    },
    {
      method: "GET",
      path: "/approvals/:id",
      access: "public",
      handle: async (_request, response, { id = "" }) => sendPage(response, 200, renderKeyForm(id)),
    },
    {
      method: "POST",
      path: "/approvals/:id",
      access: "public",
      handle: (request, response, { id = "" }) => answerForm(app, key, { request, response, id }),
    },
  ];
}

async function listInbox({ permissions, scope }: ApprovalAccess, request: IncomingMessage): Promise<unknown[]> {
  const filter = readQuery(request).has("all") ? {} : { states: ["pending"] as const };
  const approvals = await permissions.listApprovals(scope, filter);
  return approvals.map((approval) => ({ kind: "approval", ...approval }));
}

function readQuery({ url = "" }: IncomingMessage): URLSearchParams {
  return new URL(url, "http://gateway").searchParams;
}

async function getApproval({ permissions, scope }: ApprovalAccess, id: string): Promise<Approval> {
  const approval = await permissions.findApproval(scope, id);
  if (approval === undefined) throw notFound(id);
  return approval;
}

function checkKey({ headers }: IncomingMessage, key: DecisionKey): void {
  const given = headers["x-pml-decision-key"];
  if (key.matches(typeof given === "string" ? given : undefined)) return;
  throw new PmlError("request_refused", "The decision key is missing or wrong", {
    hint: "Decisions are for people: pml approve, pml refuse, or the page of the approval",
  });
}

/** The key lies in a file that only this user can read, so whoever has it is this user. */
function person(): string {
  return userInfo().username;
}

const decisionBody = z.strictObject({
  decision: z.enum(["approve", "refuse"]),
  via: z.enum(["cli", "dashboard"]),
  reason: z.string().optional(),
  remember: z.union([z.literal(true), z.strictObject({ days: z.number().positive() })]).optional(),
});

async function readDecision(request: IncomingMessage): Promise<ApprovalDecision> {
  const parsed = decisionBody.safeParse(parseJson(await readBody(request)));
  if (parsed.success) return { ...parsed.data, by: person() };
  const [issue] = parsed.error.issues;
  throw new PmlError("usage", `The decision cannot be read: "${issue?.path.join(".")}" ${issue?.message}`);
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

interface FormRequest {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly id: string;
}

/** With the key the page shows what is asked; with the ticket of that page it takes the answer. */
async function answerForm(app: ApprovalAccess, key: DecisionKey, form: FormRequest): Promise<void> {
  const { request, response, id } = form;
  try {
    const fields = new URLSearchParams(await readBody(request));
    const isPerson = key.matches(fields.get("key") ?? "") || key.acceptsTicket(id, fields.get("ticket") ?? "");
    if (!isPerson) {
      sendPage(response, 403, renderKeyForm(id, "That is not the key, or the page was open for too long."));
      return;
    }
    const given = { by: person(), via: "dashboard", reason: fields.get("reason") } as const;
    const decision = readAnswer(fields.get("answer"), given);
    const page =
      decision === undefined
        ? renderApproval(await getApproval(app, id), key.ticketFor(id))
        : renderAnswer(await app.permissions.decideApproval(app.scope, id, decision));
    sendPage(response, 200, page);
  } catch (error) {
    if (!(error instanceof PmlError)) throw error;
    sendPage(response, 409, renderProblem(error));
  }
}
