import path from "node:path";
import type { Choices } from "../options/declaration.ts";
import { packageManagers } from "../plan/package-managers.ts";
import { shellWord } from "./shell.ts";

/** The commands that a person runs next, exact and copyable. */
export function nextSteps(directory: string, cwd: string, choices: Choices, installed: boolean): string[] {
  const pm = packageManagers[choices.pm];
  const relative = path.relative(cwd, directory);
  const shorter = relative.startsWith(`..${path.sep}..`) ? directory : relative;
  return [
    ...(relative === "" ? [] : [`cd ${shellWord(shorter)}`]),
    ...(installed ? [] : [pm.install]),
    ...(choices.auth === "token" ? ["cp .env.example .env  # then set MCP_AUTH_TOKENS in it"] : []),
    pm.test,
    `${pm.run} dev`,
  ];
}
