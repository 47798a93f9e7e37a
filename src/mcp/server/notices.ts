import type { ServerContext } from "@modelcontextprotocol/server";

export interface NoticeChain {
  readonly progress: (progress: Readonly<Record<string, unknown>>) => void;
  readonly log: (message: Record<string, unknown>) => void;
  readonly sent: () => Promise<void>;
}

/** Progress and log messages go out in the order they came in, all of them before the result. */
export function createNoticeChain(ctx: ServerContext): NoticeChain {
  const progressToken = ctx.mcpReq._meta?.progressToken;
  let chain = Promise.resolve();
  const send = (method: string, params: Record<string, unknown>): void => {
    chain = chain.then(() => ctx.mcpReq.notify({ method, params })).catch(() => undefined); // the client is gone
  };
  return {
    progress(progress) {
      if (progressToken !== undefined) send("notifications/progress", { ...progress, progressToken });
    },
    log: (message) => send("notifications/message", message),
    sent: () => chain,
  };
}
