import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, openSync, watch } from "node:fs";
import http from "node:http";
import net from "node:net";
import path from "node:path";
import fs from "fs-extra";
import { onTestFinished } from "vitest";
import { parse } from "yaml";
import {
  type Answer,
  type HttpServer,
  type RequestOptions,
  readAnswer,
  startHttp,
  tokenPairs,
} from "../support/http-server.ts";
import { temporaryFolder } from "../support/temporary.ts";
import { nginxEnvironment } from "./debian-nginx.ts";

/** Who nginx runs as, where root starts it: nobody in particular, as in its image. */
const nobody = 65534;

/**
 * A free port from below the range that the system takes for outgoing connections: a replica that is started again
 * must find its port free.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = 15_000 + Math.floor(Math.random() * 17_000);
    const server = net.createServer().listen(port, "127.0.0.1");
    const free = await once(server, "listening").then(
      () => true,
      () => false,
    );
    server.close();
    if (free) return port;
  }
}

/** nginx with a project's own configuration, in which only what names a container is replaced. */
export class Nginx {
  readonly #folder: string;
  readonly #port: number;
  readonly #process: ChildProcess;
  readonly ended: Promise<number | null>;

  private constructor(folder: string, port: number, env: Record<string, string>) {
    const script = path.join(folder, "start.sh");
    const [program, ...args] = existsSync(script) ? ["sh", script] : ["nginx"];
    // A file, and no pipe: nginx opens /dev/stdout by its name.
    const output = path.join(folder, "output");
    const fd = openSync(output, "a");
    const root = process.getuid?.() === 0;
    if (root) for (const file of [folder, output]) fs.chownSync(file, nobody, nobody);
    this.#folder = folder;
    this.#port = port;
    this.#process = spawn(program as string, [...args, "-p", folder, "-c", path.join(folder, "nginx.conf")], {
      env: { ...nginxEnvironment, ...env },
      stdio: ["ignore", fd, fd],
      ...(root && { uid: nobody, gid: nobody }),
    });
    this.ended = new Promise((resolve) => this.#process.once("close", resolve));
    fs.closeSync(fd);
  }

  /** Starts what a project has in its folder `nginx` before replicas at these ports; it ends with the test. */
  static async start(
    project: string,
    replicas: readonly number[],
    env: Record<string, string> = { MCP_AUTH_TOKENS: tokenPairs },
  ): Promise<Nginx> {
    const folder = await temporaryFolder("nginx");
    const port = await freePort();
    for (const file of await fs.readdir(path.join(project, "nginx"))) {
      const text = await fs.readFile(path.join(project, "nginx", file), "utf8");
      const here = text
        .replaceAll("/tmp/", `${folder}/`)
        .replace("listen 8080;", `listen 127.0.0.1:${port};`)
        .replace(/server server:3001 resolve (.*;)/, (_, rest) =>
          replicas.map((replica) => `server 127.0.0.1:${replica} ${rest}`).join("\n"),
        );
      await fs.outputFile(path.join(folder, file), here);
    }
    const nginx = new Nginx(folder, port, env);
    onTestFinished(async () => {
      await nginx.stop();
      await fs.remove(folder);
    });
    return nginx;
  }

  /** Resolves when nginx accepts connections: it writes its process id after it has begun to listen. */
  async listening(): Promise<this> {
    const pid = path.join(this.#folder, "nginx.pid");
    const watcher = watch(this.#folder);
    const ended = this.ended.then(() => true);
    try {
      while (!existsSync(pid)) {
        const over = await Promise.race([once(watcher, "change").then(() => false), ended]);
        if (over) throw new Error(`nginx does not start:\n${await this.output()}`);
      }
    } finally {
      watcher.close();
    }
    return this;
  }

  get url(): URL {
    return new URL(`http://127.0.0.1:${this.#port}/mcp`);
  }

  get address(): { host: string; port: number } {
    return { host: "127.0.0.1", port: this.#port };
  }

  /** Opens a request; the caller reads, or drops, its answer. */
  open({ method = "POST", path: at = "/mcp", headers = {}, body }: RequestOptions = {}): http.ClientRequest {
    const request = http.request({ ...this.address, method, path: at, headers, agent: false });
    request.on("error", () => {});
    request.end(body);
    return request;
  }

  /** Sends a request and reads its answer to the end. */
  request(options: RequestOptions = {}): Promise<Answer> {
    return readAnswer(this.open(options));
  }

  /** All that nginx wrote: its access log, and why it does not start. */
  output(): Promise<string> {
    return fs.readFile(path.join(this.#folder, "output"), "utf8");
  }

  /** Ends nginx, if it still runs; then its log is complete. */
  async stop(): Promise<void> {
    this.#process.kill("SIGQUIT");
    // Whoever keeps a connection open does not keep nginx from ending.
    const late = setTimeout(() => this.#process.kill("SIGTERM"), 2000);
    await this.ended;
    clearTimeout(late);
  }
}

/** A replica as compose.yaml runs it, on this port; it ends with the test. */
export async function startReplica(
  project: string,
  port: number,
  env: Record<string, string> = {},
): Promise<HttpServer> {
  const compose = parse(await fs.readFile(path.join(project, "compose.yaml"), "utf8"));
  const entries = Object.entries(compose.services.server.environment as Record<string, string | null>);
  const given = entries.flatMap(([name, value]) =>
    // ${NAME:-default}: nothing is set in the shell of this test.
    value === null ? [] : [[name, String(value).replace(/^\$\{\w+:-(.*)\}$/, "$1")]],
  );
  return startHttp(project, { ...Object.fromEntries(given), PORT: String(port), ...env });
}

/** nginx and this many replicas behind it. */
export async function startReplicated(
  project: string,
  count = 3,
  env: Record<string, string> = { MCP_AUTH_TOKENS: tokenPairs },
): Promise<{ nginx: Nginx; replicas: HttpServer[]; ports: number[] }> {
  const ports = await Promise.all(Array.from({ length: count }, freePort));
  const replicas = await Promise.all(ports.map((port) => startReplica(project, port, env)));
  const nginx = await (await Nginx.start(project, ports, env)).listening();
  return { nginx, replicas, ports };
}
