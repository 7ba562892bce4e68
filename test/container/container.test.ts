import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import path from "node:path";
import fs from "fs-extra";
import { afterEach, describe, expect, test } from "vitest";
import { packageManagerVersions } from "../../src/plan/versions.ts";
import { noContainers, projectWithLock, removeImage, runImage } from "./image.ts";

const token = "0123456789abcdef0123456789abcdef";
const minutes = 60_000;

const initialize = `${JSON.stringify({
  jsonrpc: "2.0",
  id: 1,
  method: "initialize",
  params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "test", version: "1" } },
})}\n`;

/** A port that is free now: without an engine, the image has the machine's network. */
async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}

if (noContainers) console.warn(`The container tests are skipped: ${noContainers}.`);

describe.skipIf(noContainers)("the image", () => {
  let folder: string | undefined;
  afterEach(async () => {
    if (folder) await removeImage(folder);
    folder = undefined;
  });

  test("stdio: answers on stdout and ends with its input", { timeout: 5 * minutes }, async () => {
    folder = await projectWithLock("stdio", { samples: true, progress: true });
    // Someone's umask may hide files from others; in the image they must be readable.
    await fs.chmod(path.join(folder, "package.json"), 0o600);
    const { exitCode, stdout, stderr } = await runImage(folder, { input: initialize });
    expect(stderr).toContain('"end of input"');
    expect(exitCode).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ id: 1, result: { serverInfo: { name: "test-server" } } });
  });

  test("HTTP: non-root, healthy, and ended by SIGTERM", { timeout: 5 * minutes }, async () => {
    folder = await projectWithLock("http", { transport: "http", auth: "token" });
    const dockerfile = await fs.readFile(path.join(folder, "Dockerfile"), "utf8");
    const check = JSON.parse(/^HEALTHCHECK .*?CMD (.*)$/m.exec(dockerfile)?.[1] ?? "") as string[];
    const healthCheck = check.map((word) => `'${word.replaceAll("'", `'\\''`)}'`).join(" ");
    const port = await freePort();
    const script = `
      node dist/index.js; echo "refused: $?"
      export PORT=${port} MCP_AUTH_TOKENS=test:${token}
      ${healthCheck}; echo "before: $?"
      node dist/index.js & server=$!
      for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do ${healthCheck} && break; sleep 0.5; done
      echo "health: $?"
      echo "user: $(id -u)"
      node -e "fetch('http://127.0.0.1:${port}/mcp', { method: 'POST' }).then((r) => console.log('anonymous: ' + r.status))"
      kill -TERM $server; wait $server; echo "exit: $?"`;
    const { stdout, stderr } = await runImage(folder, { command: ["sh", "-c", script] });
    const facts = Object.fromEntries(
      stdout.split("\n").flatMap((line) => {
        const [, name, value] = /^(\w+): (\d+)$/.exec(line) ?? [];
        return name ? [[name, Number(value)]] : [];
      }),
    );
    expect(facts, stdout + stderr).toEqual({
      refused: 1,
      before: 1,
      health: 0,
      user: expect.any(Number),
      anonymous: 401,
      exit: 0,
    });
    expect(facts.user).toBeGreaterThan(0);
    expect(stdout).toContain(`http://0.0.0.0:${port}/mcp`);

    expect(stdout + stderr).toMatch(/Cannot start: MCP_AUTH_TOKENS: /);
  });

  test("both: stdio on demand; HTTP without auth waits for a decision; only what runs", {
    timeout: 5 * minutes,
  }, async () => {
    folder = await projectWithLock("both", { transport: "both" });
    const script = `
      MCP_TRANSPORT=stdio node dist/index.js
      node dist/index.js >&2; echo "exit: $?" >&2
      find /app ! -type l ! -perm -004; ls /app; ls node_modules`;
    const { stdout, stderr } = await runImage(folder, { command: ["sh", "-c", script], input: initialize });
    const [answer, ...names] = stdout.split("\n");
    expect(JSON.parse(answer ?? "")).toMatchObject({ id: 1 });
    expect(stderr).toMatch(/Cannot start: HOST: .*MCP_ALLOW_UNAUTHENTICATED/);
    expect(stderr).toContain("exit: 1");

    expect(names.slice(0, 3)).toEqual(["dist", "node_modules", "package.json"]);
    expect(names).toContain("zod");
    expect(names).not.toContain("typescript");
    expect(names).not.toContain("vitest");
  });

  test("pnpm", { timeout: 5 * minutes }, async () => {
    const pnpm = ["npx", "--yes", `pnpm@${packageManagerVersions.pnpm}`] as const;
    folder = await projectWithLock("pnpm", { pm: "pnpm" }, [...pnpm, "install", "--lockfile-only"]);
    const { exitCode, stdout, stderr } = await runImage(folder, { input: initialize });
    expect(exitCode, stderr).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ id: 1 });
  });

  test("is not built without a lock file, and says why", { timeout: 5 * minutes }, async () => {
    folder = await projectWithLock("no-lock", {}, ["true"]);
    const { exitCode, stderr } = await runImage(folder);
    expect(exitCode).not.toBe(0);
    expect(stderr).toContain("package-lock.json is missing: run 'npm install' and commit it");
  });
});
