import path from "node:path";
import { execa, type Options } from "execa";
import fs from "fs-extra";
import { repository } from "./tarball.ts";

export const entry = path.join(repository, "bin", "create-mcp-server.js");

export interface RunOptions {
  readonly cwd: string;
  readonly env?: Record<string, string | undefined>;
  /** Runs as another user; only root can. */
  readonly uid?: number;
  /** Folders that are searched for programs, before all others. */
  readonly path?: string;
}

/** Who commits in tests; the machine's own configuration is left out. */
export const gitIdentity = {
  GIT_AUTHOR_NAME: "Test",
  GIT_AUTHOR_EMAIL: "test@example.com",
  GIT_COMMITTER_NAME: "Test",
  GIT_COMMITTER_EMAIL: "test@example.com",
  GIT_CONFIG_GLOBAL: "/dev/null",
  GIT_CONFIG_NOSYSTEM: "1",
};

/** Starts the built command; nobody is at its terminal. */
export function start(args: readonly string[], options: RunOptions) {
  const settings = {
    cwd: options.cwd,
    reject: false,
    stdin: "ignore",
    extendEnv: false,
    ...(options.uid !== undefined && { uid: options.uid, gid: options.uid }),
    env: {
      PATH: [...(options.path ? [options.path] : []), process.env.PATH].join(path.delimiter),
      HOME: options.cwd,
      ...gitIdentity,
      ...options.env,
    },
  } satisfies Options;
  return execa(process.execPath, [entry, ...args], settings);
}

/** Runs the built command to its end. */
export async function run(args: readonly string[], options: RunOptions) {
  const { exitCode, stdout, stderr } = await start(args, options);
  return { exitCode, stdout, stderr };
}

/** Puts a stand-in for a program into a folder, to be searched before the real one. */
export async function standIn(folder: string, program: string, script: string): Promise<string> {
  const file = path.join(folder, program);
  await fs.outputFile(file, `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  return folder;
}

/** Every file and folder below a folder, sorted; what is in `.git` and `node_modules` is left out. */
export async function tree(folder: string): Promise<string[]> {
  const entries = await fs.readdir(folder, { recursive: true, encoding: "utf8" });
  return entries.filter((entry) => !/(^|\/)(\.git|node_modules)\//.test(entry)).sort();
}
