/** A command of this version with a daemon of another one, which has none of its routes but the proof. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { version } from "../../src/base/package-info.ts";
import { EXIT } from "../../src/base/errors.ts";
import { writeDaemonInfo, writeShimSecret } from "../../src/daemon/daemon-file.ts";
import { makeFolder } from "../support/folder.ts";
import { runPml } from "../support/pml.ts";

const OTHER_DAEMON = `
import { createServer } from "node:http";
import { proveDaemon } from ${JSON.stringify(import.meta.resolve("../../src/daemon/daemon-proof.ts"))};
const failure = { ok: false, error: { code: "usage", id: "PML-E5001", message: "Nothing is served here" } };
const server = createServer((request, response) => {
  const url = "http://127.0.0.1:" + server.address().port;
  const nonce = new URL(request.url, url).searchParams.get("nonce");
  if (nonce !== null) {
    const proof = proveDaemon(process.env.SECRET, { pid: process.pid, url }, nonce);
    response.setHeader("Content-Length", proof.length).end(proof);
    return;
  }
  response.writeHead(404, { "Content-Type": "application/json" }).end(JSON.stringify(failure));
});
server.listen(0, "127.0.0.1", () => console.log(server.address().port));`;

test("commands name both versions, doctor as well, and pml down ends the other daemon", async () => {
  await using home = await makeFolder();
  const daemon = spawn(process.execPath, ["--input-type=module", "-e", OTHER_DAEMON], {
    stdio: ["ignore", "pipe", "inherit"],
    env: { ...process.env, SECRET: writeShimSecret(home.path) },
  });
  const exited = once(daemon, "exit");
  try {
    const [port] = (await once(daemon.stdout.setEncoding("utf8"), "data")) as [string];
    writeFileSync(join(home.path, "token"), "t\n");
    writeDaemonInfo(home.path, { pid: daemon.pid ?? 0, version: "0.0.9", url: `http://127.0.0.1:${port.trim()}` });
    const options = { home: home.path };

    const refused = await runPml(["servers"], options);
    expect([refused.code, refused.stdout]).toEqual([EXIT.unreachable, ""]);
    expect(refused.stderr).toContain(`This command is PML ${version}`);
    expect(refused.stderr).toContain(`(pid ${daemon.pid}, PML 0.0.9) does not have it`);
    expect(refused.stderr).toContain("Restart the daemon: pml down && pml up");
    expect((await runPml(["doctor"], options)).stdout).toContain(`version 0.0.9; this command is ${version}`);

    expect(await runPml(["down"], options)).toMatchObject({ code: EXIT.ok });
    expect(await exited).toEqual([null, "SIGTERM"]);
  } finally {
    daemon.kill("SIGKILL");
  }
});
