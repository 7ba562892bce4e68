import { log } from "@clack/prompts";
import type { Output } from "../report/output.ts";

/**
 * Lines in the wizard's look. It has no spinner on purpose: the one of the prompts library takes Ctrl-C away from the
 * command and ends the process with 0.
 */
export const terminalOutput: Output = { say: (text) => log.message(text) };
