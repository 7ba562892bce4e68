import path from "node:path";
import type { Choices } from "../options/declaration.ts";
import { packageManagers } from "../plan/package-managers.ts";
import { shellWord } from "./shell.ts";

/** What a server does not start without. */
const needsConfiguration: Record<Choices["auth"], string | undefined> = {
  none: undefined,
  token: "MCP_AUTH_TOKENS",
  oauth: "MCP_PUBLIC_URL and the MCP_OAUTH_ variables",
};

/** The commands that a person runs next, exact and copyable. */
export function nextSteps(directory: string, cwd: string, choices: Choices, installed: boolean): string[] {
  const pm = packageManagers[choices.pm];
  const relative = path.relative(cwd, directory);
  const shorter = relative.startsWith(`..${path.sep}..`) ? directory : relative;
  const toConfigure = needsConfiguration[choices.auth];
  return [
    ...(relative === "" ? [] : [`cd ${shellWord(shorter)}`]),
    ...(installed ? [] : [pm.install]),
    ...(toConfigure === undefined ? [] : [`cp .env.example .env  # then set ${toConfigure} in it`]),
    pm.test,
    `${pm.run} dev`,
  ];
}
