import { readdirSync, readFileSync, readlinkSync } from "node:fs";

/** Describes the process that listens on a port, as "node, pid 123"; undefined outside Linux and for other users' processes. */
export function describePortOwner(port: number): string | undefined {
  const inode = findListeningInode(port);
  if (inode === undefined) return undefined;
  const pid = attempt(() => readdirSync("/proc"))?.find((name) => /^\d+$/.test(name) && hasSocket(name, inode));
  if (pid === undefined) return undefined;
  const name = attempt(() => readFileSync(`/proc/${pid}/comm`, "utf8").trim());
  return `${name ?? "a process"}, pid ${pid}`;
}

const LISTEN_STATE = "0A";

function findListeningInode(port: number): string | undefined {
  const wanted = `:${port.toString(16).toUpperCase().padStart(4, "0")}`;
  for (const table of ["/proc/net/tcp", "/proc/net/tcp6"]) {
    const lines = attempt(() => readFileSync(table, "utf8"))?.split("\n") ?? [];
    const fields = lines.map((line) => line.trim().split(/\s+/));
    const row = fields.find(([, local, , state]) => local?.endsWith(wanted) && state === LISTEN_STATE);
    if (row?.[9] !== undefined) return row[9];
  }
  return undefined;
}

function hasSocket(pid: string, inode: string): boolean {
  const descriptors = attempt(() => readdirSync(`/proc/${pid}/fd`)) ?? [];
  return descriptors.some((fd) => attempt(() => readlinkSync(`/proc/${pid}/fd/${fd}`)) === `socket:[${inode}]`);
}

/** Returns undefined for what cannot be read: other users' processes and exited ones. */
function attempt<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
