import { spawn } from "node:child_process";
import { once } from "node:events";
import path from "node:path";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import fs from "fs-extra";
import { beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { projectWithTools, type StdioServer, startServer } from "../support/stdio-server.ts";
import { temporaryFolder } from "../support/temporary.ts";

let project: string;
beforeAll(async () => {
  project = await projectWithTools("hostile-tools.ts");
});

const serve = () => startServer(project).initialize();

/** Does something that must end a server, and expects it to end well and in time. */
async function expectEnd(server: StdioServer, act: () => void, withinMs = 2000): Promise<void> {
  const from = performance.now();
  act();
  const { code, signal, at } = await server.ended;
  expect({ code, signal }).toEqual({ code: 0, signal: null });
  expect(at - from).toBeLessThan(withinMs);
  expect(server.stderr.all.filter((line) => /^\s+at /.test(line))).toEqual([]);
}

const ways: [string, (server: StdioServer) => void][] = [
  ["the end of input", (server) => server.process.stdin?.end()],
  ["SIGINT", (server) => server.process.kill("SIGINT")],
  ["SIGTERM", (server) => server.process.kill("SIGTERM")],
  [
    "a host that closes all pipes",
    (server) => {
      server.process.stdin?.destroy();
      server.process.stdout?.destroy();
      server.process.stderr?.destroy();
    },
  ],
];

describe.each(ways)("%s", (_, act) => {
  test("ends the server with 0 at once", async () => {
    const server = await serve();
    await expectEnd(server, () => act(server), 1000);
  });

  test("ends it with a timer and a socket alive", async () => {
    const server = await serve();
    await server.call("lingers");
    await expectEnd(server, () => act(server), 1000);
  });

  test("ends it with a call that never ends and does not listen", async () => {
    const server = await serve();
    server.send({
      id: 1,
      method: "tools/call",
      params: { name: "waits", arguments: { ms: 60_000, deaf: true } },
    });
    await server.logged({ message: "waiting" });
    await expectEnd(server, () => act(server));
  });
});

test("the end of input ends a server that was never initialized", async () => {
  const server = startServer(project);
  await expectEnd(server, () => server.process.stdin?.end());
});

test("a call in flight at the end of input is answered", async () => {
  const server = await serve();
  server.send({ id: 1, method: "tools/call", params: { name: "waits", arguments: { ms: 700 } } });
  server.process.stdin?.end();
  expect((await server.answer(1)).result.structuredContent).toEqual({ waited: true });
  expect(await server.ended).toMatchObject({ code: 0 });
});

test("a huge answer in flight at the end of input arrives whole", async () => {
  const server = await serve();
  server.send({ id: 1, method: "tools/call", params: { name: "answers", arguments: { what: "huge" } } });
  server.process.stdin?.end();
  expect((await server.answer(1)).result.structuredContent.anything.length).toBe(5_000_000);
  expect(await server.ended).toMatchObject({ code: 0 });
});

test("a call that takes longer is aborted, and its signal fires", async () => {
  const server = await serve();
  server.send({ id: 1, method: "tools/call", params: { name: "waits", arguments: { ms: 60_000 } } });
  await server.logged({ message: "waiting" });
  await expectEnd(server, () => server.process.stdin?.end());
  await server.logged({ message: "the signal fired", requestId: 1 });
  await server.logged({ message: "tool call cancelled", requestId: 1 });
  expect(server.messages().map(({ id }) => id)).toEqual(["initialize"]);
});

test("after SIGTERM, a running call is answered and no new one starts", async () => {
  const server = await serve();
  server.send({ id: 1, method: "tools/call", params: { name: "waits", arguments: { ms: 500 } } });
  await server.logged({ message: "waiting" });
  server.process.kill("SIGTERM");
  await server.logged({ message: "stopping" });
  server.send({ id: 2, method: "tools/call", params: { name: "echo", arguments: { text: "late" } } });
  expect(await server.ended).toMatchObject({ code: 0 });
  expect(server.messages().map(({ id }) => id)).toEqual(["initialize", 1]);
});

test("a second signal ends it at once", async () => {
  const server = await serve();
  server.send({
    id: 1,
    method: "tools/call",
    params: { name: "waits", arguments: { ms: 60_000, deaf: true } },
  });
  await server.logged({ message: "waiting" });
  server.process.kill("SIGTERM");
  await server.logged({ message: "stopping" });
  await expectEnd(server, () => server.process.kill("SIGINT"), 500);
});

test("a host that is killed takes the server with it", async () => {
  const script = `
    const { spawn } = require("node:child_process");
    const server = spawn(process.execPath, [${JSON.stringify(path.join(project, "dist", "index.js"))}]);
    server.stderr.once("data", () => console.log(server.pid));`;
  const host = spawn(process.execPath, ["-e", script], { stdio: ["ignore", "pipe", "inherit"] });
  onTestFinished(() => void host.kill("SIGKILL"));
  const [pid] = (await once(createInterface({ input: host.stdout as Readable }), "line")) as [string];
  expect(isRunning(Number(pid))).toBe(true);
  host.kill("SIGKILL");
  await expect.poll(() => isRunning(Number(pid)), { timeout: 2000, interval: 20 }).toBe(false);
});

/** Whether a process runs; one that has ended and waits to be reaped does not. */
function isRunning(pid: number): boolean {
  try {
    return !/^State:\s+Z/m.test(fs.readFileSync(`/proc/${pid}/status`, "utf8"));
  } catch {
    return false;
  }
}

test("a closed stderr is survived", async () => {
  const server = await serve();
  server.process.stderr?.destroy();
  await once(server.process.stderr as Readable, "close");
  // Each of these calls writes to the closed stderr in its own way.
  await server.call("prints");
  await server.call("breaks", { what: "error" });
  await server.call("logs");
  const { result } = await server.call("echo", { text: "alive" });
  expect(result.structuredContent).toEqual({ text: "alive" });
  await expectEnd(server, () => server.process.stdin?.end());
});

test("a full disk behind stderr is survived", async () => {
  const entry = path.join(project, "dist", "index.js");
  const server = startServer(project, {
    command: ["/bin/sh", "-c", 'exec "$0" "$1" 2>/dev/full', process.execPath, entry],
  });
  await server.initialize();
  await server.call("prints");
  expect((await server.call("echo", { text: "alive" })).result.structuredContent).toEqual({ text: "alive" });
  await expectEnd(server, () => server.process.stdin?.end());
});

test("a closed stdout ends it with 0 and no stack", async () => {
  const server = await serve();
  server.process.stdout?.destroy();
  await once(server.process.stdout as Readable, "close");
  await expectEnd(server, () => server.send({ id: 1, method: "ping" }));
});

test("a host that reads no more cannot keep it alive", async () => {
  const server = await serve();
  server.process.stdout?.pause();
  server.send({ id: 1, method: "tools/call", params: { name: "answers", arguments: { what: "huge" } } });
  await server.logged({ message: "tool call done", requestId: 1 });
  const from = performance.now();
  server.process.kill("SIGTERM");
  await once(server.process, "exit");
  expect(performance.now() - from).toBeLessThan(2500);
  expect(server.process.exitCode).toBe(0);
});

describe("it runs", () => {
  async function expectServes(server: StdioServer): Promise<void> {
    await server.initialize();
    const { result } = await server.call("echo", { text: "here" });
    expect(result.structuredContent).toEqual({ text: "here" });
    await expectEnd(server, () => server.process.stdin?.end());
  }

  test("from / with an empty environment", async () => {
    await expectServes(startServer(project, { cwd: "/" }));
  });

  test("through a symlink, as an installed command", async () => {
    const folder = await emptyFolder();
    const link = path.join(folder, "test-server");
    await fs.ensureSymlink(path.join(project, "dist", "index.js"), link);
    await expectServes(startServer(project, { cwd: "/", command: [process.execPath, link] }));
    // The shebang needs a PATH to find node, as in any shell.
    await fs.chmod(path.join(project, "dist", "index.js"), 0o755);
    await expectServes(
      startServer(project, { env: { PATH: path.dirname(process.execPath) }, command: [link] }),
    );
  });

  test("from a path with spaces and letters of all kinds", async () => {
    const folder = path.join(await emptyFolder(), "mein Projekt", "ünï 日本 #1 %20");
    await fs.copy(project, folder);
    await fs.ensureSymlink(path.join(project, "..", "node_modules"), path.join(folder, "node_modules"));
    await expectServes(startServer(folder, { cwd: "/" }));
  });
});

async function emptyFolder(): Promise<string> {
  const folder = await temporaryFolder("lifecycle");
  onTestFinished(() => fs.remove(folder));
  return folder;
}
