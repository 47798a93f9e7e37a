import type { Command } from "./command.ts";
import { list } from "./commands/list.ts";
import { show } from "./commands/show.ts";
import { code } from "./commands/code.ts";
import { lookup } from "./commands/lookup.ts";
import { whois } from "./commands/whois.ts";
import { history } from "./commands/history.ts";
import { diff } from "./commands/diff.ts";
import { restore } from "./commands/restore.ts";
import { archive } from "./commands/archive.ts";
import { tag } from "./commands/tag.ts";
import { share } from "./commands/share.ts";
import { rename } from "./commands/rename.ts";
import { alias } from "./commands/alias.ts";
import { fork } from "./commands/fork.ts";
import { merge } from "./commands/merge.ts";
import { stats } from "./commands/stats.ts";
import { add } from "./commands/add.ts";
import { approve } from "./commands/approve.ts";
import { backup } from "./commands/backup.ts";
import { call } from "./commands/call.ts";
import { demo } from "./commands/demo.ts";
import { clients } from "./commands/clients.ts";
import { connect } from "./commands/connect.ts";
import { curate } from "./commands/curate.ts";
import { discover } from "./commands/discover.ts";
import { doctor } from "./commands/doctor.ts";
import { down } from "./commands/down.ts";
import { exec } from "./commands/exec.ts";
import { exportCommand } from "./commands/export.ts";
import { graph } from "./commands/graph.ts";
import { importCommand } from "./commands/import.ts";
import { hints } from "./commands/hints.ts";
import { inbox } from "./commands/inbox.ts";
import { index } from "./commands/index.ts";
import { login } from "./commands/login.ts";
import { logout } from "./commands/logout.ts";
import { logs } from "./commands/logs.ts";
import { mcp } from "./commands/mcp.ts";
import { refuse } from "./commands/refuse.ts";
import { remove } from "./commands/remove.ts";
import { rules } from "./commands/rules.ts";
import { replay } from "./commands/replay.ts";
import { result } from "./commands/result.ts";
import { run } from "./commands/run.ts";
import { runShow } from "./commands/run-show.ts";
import { runs } from "./commands/runs.ts";
import { review } from "./commands/review.ts";
import { serve } from "./commands/serve.ts";
import { servers } from "./commands/servers.ts";
import { status } from "./commands/status.ts";
import { tools } from "./commands/tools.ts";
import { trust } from "./commands/trust.ts";
import { up } from "./commands/up.ts";

/** Every command, in the order of the help. */
export const commands: readonly Command[] = [
  serve,
  up,
  down,
  demo,
  mcp,
  connect,
  discover,
  call,
  exec,
  run,
  status,
  servers,
  tools,
  runs,
  runShow,
  replay,
  result,
  list,
  show,
  code,
  graph,
  index,
  lookup,
  whois,
  history,
  diff,
  stats,
  logs,
  doctor,
  inbox,
  approve,
  refuse,
  rules,
  review,
  trust,
  hints,
  curate,
  clients,
  login,
  logout,
  rename,
  alias,
  tag,
  share,
  fork,
  merge,
  archive,
  restore,
  add,
  remove,
  exportCommand,
  importCommand,
  backup,
];
