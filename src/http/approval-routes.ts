import type { IncomingMessage, ServerResponse } from "node:http";
import { userInfo } from "node:os";
import type { App } from "../app/app.ts";
import { PmlError } from "../base/errors.ts";
import { routes } from "../contract/routes.ts";
import { type Approval, notFound, readAnswer } from "../permissions/approval.ts";
import { renderQuestion } from "../permissions/render-question.ts";
import { renderAnswer, renderApproval, renderKeyForm, renderProblem, sendPage } from "./approval-page.ts";
import type { DecisionKey } from "./decision-key.ts";
import type { Route } from "./http-server.ts";
import { readBody } from "./read-body.ts";
import { serveData, serveRaw } from "./serve-route.ts";

type ApprovalAccess = Pick<App, "permissions" | "scope">;

/** Enough for anything a person fills in. */
const MOST_FORM_BYTES = 64 * 1024;

/** Approvals and rules. Reading takes the token, as everywhere; deciding takes the key of the person. */
export function createApprovalRoutes(app: App, key: DecisionKey): Route[] {
  const { permissions, scope } = app;
  return [
    serveData(routes.getApproval, async ({ params: { id } }) => {
      const { binding, ...approval } = await getApproval(app, id);
      return { ...approval, question: renderQuestion({ ...approval, binding }) };
    }),
    serveData(routes.decideApproval, async ({ params: { id }, body }) => {
      const { approval, rules } = await permissions.decideApproval(scope, id, { ...body, by: person() });
      return { approval: withoutBinding(approval), rules };
    }),
    serveData(routes.listRules, () => permissions.listRules(scope)),
    serveData(routes.testRules, ({ query: { tool } }) => app.decideTool(tool)),
    serveData(routes.removeRule, ({ params: { id } }) => permissions.removeRule(scope, id, person())),
    serveRaw(routes.showApprovalPage, async (_request, response, { id = "" }) =>
      sendPage(response, 200, renderKeyForm(id)),
    ),
    serveRaw(routes.answerApprovalPage, (request, response, { id = "" }) =>
      answerForm(app, key, { request, response, id }),
    ),
  ];
}

/** Lists and decisions leave out the binding, which is as long as all the code it binds. */
export function withoutBinding({ binding: _long, ...approval }: Approval): Omit<Approval, "binding"> {
  return approval;
}

async function getApproval({ permissions, scope }: ApprovalAccess, id: string): Promise<Approval> {
  const approval = await permissions.findApproval(scope, id);
  if (approval === undefined) throw notFound(id);
  return approval;
}

/** Names the person: only this user can read the file of the key, so its holder is this user. */
function person(): string {
  return userInfo().username;
}

interface FormRequest {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly id: string;
}

/** Shows the approval to a caller with the key, and takes the answer from one with the ticket of that page. */
async function answerForm(app: ApprovalAccess, key: DecisionKey, form: FormRequest): Promise<void> {
  const { request, response, id } = form;
  try {
    const fields = new URLSearchParams(await readBody(request, MOST_FORM_BYTES));
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
