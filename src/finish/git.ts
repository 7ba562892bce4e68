import { Cancelled } from "../errors.ts";

/** What became of the repository: a sentence to show where it is not what was asked for. */
export interface GitOutcome {
  readonly committed: boolean;
  readonly note: string | undefined;
}

/** What would point git to a repository elsewhere. */
const elsewhere = { GIT_DIR: undefined, GIT_WORK_TREE: undefined, GIT_INDEX_FILE: undefined };

/**
 * Initialises git with a first commit. Nothing that git lacks or refuses is worth failing for: the outcome says so.
 *
 * @throws Cancelled when `signal` fires.
 */
export async function initialiseGit(directory: string, signal: AbortSignal): Promise<GitOutcome> {
  const { execa } = await import("execa");
  async function git(...args: string[]) {
    const result = await execa("git", args, {
      cwd: directory,
      reject: false,
      stdin: "ignore",
      cancelSignal: signal,
      // What git says is read below, so it must say it in English.
      env: { ...elsewhere, LC_ALL: "C" },
    });
    if (signal.aborted) throw new Cancelled("Cancelled during the first commit", "The project is in place.");
    return result;
  }
  const without = (note: string): GitOutcome => ({ committed: false, note });

  const inside = await git("rev-parse", "--show-prefix");
  if (inside.code === "ENOENT") return without("git is not installed: no repository was made");
  if (!inside.failed && inside.stdout !== "") {
    return without("this is inside another repository: no repository of its own was made");
  }
  if (inside.failed) {
    const init = await git("init", "--quiet");
    if (init.failed) return without(`git init failed: ${firstLine(init.stderr)}`);
  } else if (!(await git("rev-parse", "--verify", "--quiet", "HEAD")).failed) {
    return without("the repository has commits already: the new files are left for you to commit");
  }

  const add = await git("add", "--all");
  if (add.failed) return without(`git add failed: ${firstLine(add.stderr)}`);
  const commit = await git("commit", "--quiet", "--message", "Create the project with create-mcp-server");
  if (!commit.failed) return { committed: true, note: undefined };
  return without(
    /tell me who you are|empty ident|user\.useConfigOnly/i.test(commit.stderr)
      ? 'git does not know who you are: the files are staged; set user.name and user.email, then run: git commit -m "Create the project"'
      : `git commit failed, the files are staged: ${firstLine(commit.stderr) || `exit code ${commit.exitCode}`}`,
  );
}

function firstLine(text: string): string {
  return text.trim().split("\n")[0] ?? "";
}
