import { existsSync } from "node:fs";
import path from "node:path";
import { execa, type Options } from "execa";
import fs from "fs-extra";
import type { Answers } from "../../src/options/declaration.ts";
import { planProject } from "../../src/plan/plan.ts";
import { plainAnswers } from "../support/generated.ts";
import { repository } from "../support/tarball.ts";
import { temporaryFolder } from "../support/temporary.ts";

/** Builds and runs an image without a container engine, where the machine has it. */
const script = path.join(repository, "..", "shared", "tools", "docker-check.sh");

/** The command of an engine that works here; both take the same arguments. */
const engine = await firstOf(["docker", "podman"]);

async function firstOf(commands: readonly string[]): Promise<string | undefined> {
  for (const command of commands) {
    const { exitCode } = await execa(command, ["info"], { reject: false, timeout: 10_000 });
    if (exitCode === 0) return command;
  }
  return undefined;
}

/** Why images cannot be built on this machine, if they cannot. */
export const noContainers =
  engine || existsSync(script) ? undefined : `neither a container engine nor ${script} is there`;

/** A generated project with its lock file, ready to be built into an image. */
export async function projectWithLock(
  name: string,
  answers: Partial<Answers>,
  lock: readonly [string, ...string[]] = ["npm", "install", "--package-lock-only", "--no-audit", "--no-fund"],
): Promise<string> {
  const folder = path.join(await temporaryFolder("image"), name);
  for (const file of planProject({ ...plainAnswers, docker: true, ...answers })) {
    await fs.outputFile(path.join(folder, file.path), file.content);
  }
  const [command, ...args] = lock;
  await execa(command, args, { cwd: folder });
  return folder;
}

/** Builds the project's image and runs it, by its own command unless another is given. */
export async function runImage(
  folder: string,
  { command = [], input = "" }: { command?: readonly string[]; input?: string } = {},
): Promise<{ exitCode?: number | undefined; stdout: string; stderr: string }> {
  const options = { reject: false, input } satisfies Options;
  if (!engine) {
    return await execa(script, [folder, ...(command.length > 0 ? ["--", ...command] : [])], options);
  }
  const tag = `create-mcp-server-test-${path.basename(folder)}`;
  const built = await execa(engine, ["build", "--quiet", "--tag", tag, folder], options);
  if (built.exitCode !== 0) return built;
  const rights = ["--read-only", "--user", "12345", "--cap-drop", "ALL"];
  return await execa(engine, ["run", "--interactive", "--rm", ...rights, tag, ...command], options);
}

/** Removes the project and its image. */
export async function removeImage(folder: string): Promise<void> {
  const name = path.basename(folder);
  await fs.remove(path.dirname(folder));
  const [command, image] = engine
    ? [engine, `create-mcp-server-test-${name}`]
    : ["buildah", `localhost/docker-check-${name}`];
  await execa(command, ["rmi", "--force", image], { reject: false, env: { STORAGE_DRIVER: "vfs" } });
}
