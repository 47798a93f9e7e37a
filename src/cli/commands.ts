import type { Command } from "./command.ts";
import { add } from "./commands/add.ts";
import { backup } from "./commands/backup.ts";
import { call } from "./commands/call.ts";
import { connect } from "./commands/connect.ts";
import { doctor } from "./commands/doctor.ts";
import { down } from "./commands/down.ts";
import { exportCommand } from "./commands/export.ts";
import { importCommand } from "./commands/import.ts";
import { logs } from "./commands/logs.ts";
import { mcp } from "./commands/mcp.ts";
import { remove } from "./commands/remove.ts";
import { serve } from "./commands/serve.ts";
import { servers } from "./commands/servers.ts";
import { status } from "./commands/status.ts";
import { tools } from "./commands/tools.ts";
import { up } from "./commands/up.ts";

/** Every command, in the order of the help. */
export const commands: readonly Command[] = [
  serve,
  up,
  down,
  mcp,
  connect,
  call,
  status,
  servers,
  tools,
  logs,
  doctor,
  add,
  remove,
  exportCommand,
  importCommand,
  backup,
];
