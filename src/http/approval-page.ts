import { createHash } from "node:crypto";
import type { ServerResponse } from "node:http";
import type { PmlError } from "../base/errors.ts";
import type { Approval, DecidedApproval } from "../permissions/approval.ts";
import { renderQuestion } from "../permissions/render-question.ts";
import { toVisible } from "../base/visible.ts";

const STYLE = `
body { font: 16px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 50rem; padding: 0 1rem; color: #1a1a1a; background: #fff; }
h1 { font-size: 1.4rem; } dt { font-weight: 600; margin-top: .8rem; } dd { margin: 0; }
pre { background: #f2f2f2; padding: .8rem; overflow: auto; white-space: pre-wrap; overflow-wrap: anywhere; }
button, input { font: inherit; padding: .4rem .8rem; margin: .3rem .3rem .3rem 0; } input { width: 100%; box-sizing: border-box; }
.destructive { color: #a40000; font-weight: 600; }
@media (prefers-color-scheme: dark) { body { color: #eee; background: #16181c; } pre { background: #24272e; } .destructive { color: #ff8a80; } }
`;

/** Forbids loading, scripts and framing; the form may only be sent back here. */
const POLICY = [
  "default-src 'none'",
  `style-src 'sha256-${createHash("sha256").update(STYLE).digest("base64")}'`,
  "form-action 'self'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
].join("; ");

export function sendPage(response: ServerResponse, status: number, page: string): void {
  response
    .writeHead(status, {
      "Content-Type": "text/html; charset=utf-8",
      "Content-Security-Policy": POLICY,
      "Cache-Control": "no-store",
      // not "no-referrer", with which a browser would send the form without its origin
      "Referrer-Policy": "same-origin",
    })
    .end(page);
}

/** Shows nothing before the key was given, not even whether the approval exists. */
export function renderKeyForm(id: string, problem = ""): string {
  return layout(
    "Something waits for your decision",
    `${problem === "" ? "" : `<p role="alert"><strong>${escape(problem)}</strong></p>`}
<form method="post" action="/approvals/${escape(encodeURIComponent(id))}">
<p><label for="key">The key in the file <code>decision-key</code> of your PML_HOME (by default <code>~/.pml</code>)</label>
<input id="key" name="key" type="password" autocomplete="current-password" required autofocus></p>
<p><button>Show what is asked</button></p>
</form>
<p>In a terminal: <code>pml inbox ${escape(id)}</code></p>`,
  );
}

export function renderApproval(approval: Approval, ticket: string): string {
  const { id, state } = approval;
  const form =
    state === "pending"
      ? `<form method="post" action="/approvals/${escape(id)}">
<input type="hidden" name="ticket" value="${escape(ticket)}">
<p><label for="reason">Your reason; the agent gets it</label><input id="reason" name="reason"></p>
<p><button name="answer" value="refuse">Refuse</button>
<button name="answer" value="once">Allow once</button>${rememberButton(approval)}</p>
</form>`
      : `<p><strong>It is ${escape(state)}.</strong></p>`;
  return layout("Something waits for your decision", `<pre>${escape(renderQuestion(approval))}</pre>${form}`);
}

function rememberButton({ tools }: Approval): string {
  const names = tools.filter(({ rememberable }) => rememberable).map(({ tool }) => tool);
  if (names.length === 0) return "";
  return `
<button name="answer" value="always">Always allow ${escape(names.join(", "))} in this very program</button>`;
}

export function renderAnswer({ approval, rules }: DecidedApproval): string {
  const remembered = rules.map(
    ({ id, tool }) =>
      `<p>${escape(tool)} will not be asked again for this program. Undo: <code>pml rules remove ${escape(id)}</code></p>`,
  );
  const title = approval.state === "approved" ? "Allowed" : "Refused";
  return layout(title, `${remembered.join("")}<p>You can close this page.</p>`);
}

export function renderProblem({ message, hint = "" }: PmlError): string {
  return layout("That did not work", `<p>${escape(message)}</p><p>${escape(hint)}</p>`);
}

function layout(title: string, body: string): string {
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title} - PML</title><style>${STYLE}</style></head>
<body><main><h1>${title}</h1>
${body}
</main></body></html>
`;
}

const ENTITIES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

/** Escapes all text from outside. */
function escape(text: string): string {
  return toVisible(text).replace(/[&<>"']/g, (character) => ENTITIES[character] ?? character);
}
