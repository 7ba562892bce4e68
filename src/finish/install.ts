import { Cancelled, CommandError } from "../errors.ts";
import { type PackageManager, packageManagers } from "../plan/package-managers.ts";
import { shellWord } from "../report/shell.ts";

/** How much of a failed install's output is shown, in lines from its end. */
const shownLines = 15;

/**
 * Installs a project's dependencies. What has been written stays, whatever happens here.
 *
 * @throws CommandError saying how to resume, when the package manager is missing or fails; Cancelled when `signal` fires.
 */
export async function installDependencies(
  directory: string,
  pm: PackageManager,
  signal: AbortSignal,
): Promise<void> {
  const { execa } = await import("execa");
  const result = await execa(pm, ["install"], {
    cwd: directory,
    reject: false,
    all: true,
    stdin: "ignore",
    cancelSignal: signal,
    forceKillAfterDelay: 2000,
    // Corepack would ask, and later versions of Yarn want a lock file where they think that CI runs them.
    env: { COREPACK_ENABLE_DOWNLOAD_PROMPT: "0", YARN_ENABLE_IMMUTABLE_INSTALLS: "false" },
  });
  if (!result.failed) return;
  const resume = `The project is in place. To go on: cd ${shellWord(directory)} && ${packageManagers[pm].install}`;
  if (signal.aborted) throw new Cancelled("Cancelled during the install", resume);
  if (result.code === "ENOENT") throw new CommandError(`${pm} is not installed`, resume);
  const lines = (result.all ?? "").trimEnd().split("\n");
  throw new CommandError(
    `${pm} install failed${result.exitCode === undefined ? "" : ` with exit code ${result.exitCode}`}`,
    [...lines.slice(-shownLines).map((line) => `  ${line}`), resume].join("\n"),
    result.cause,
  );
}
