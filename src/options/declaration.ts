import { descriptionProblem } from "./description.ts";
import type { Option } from "./option.ts";
import { toolNamesProblem } from "./tool-names.ts";

/** The SDK line of projects for which nothing else is said. */
const defaultSdk = "v1";

/**
 * Every option of `create`, declared once and in the order in which the wizard asks. The flags, the wizard, `--help`,
 * the README's option table and the manifest's answers are all derived from this table; to add an option, add it
 * here and give it an overlay in `src/plan/overlays.ts`.
 */
export const options = {
  description: {
    type: "text",
    scope: "project",
    prompt: "What does the server do, in one sentence?",
    help: "what the server does, in one sentence of at most 500 characters",
    default: "An MCP server",
    problem: descriptionProblem,
  },
  transport: {
    type: "choice",
    scope: "project",
    prompt: "How do clients reach it?",
    help: "how clients reach the server",
    choices: [
      { value: "stdio", label: "stdio", hint: "a local process that the host starts" },
      { value: "http", label: "HTTP", hint: "a network service, Streamable HTTP on /mcp" },
      { value: "both", label: "both", hint: "one build, chosen at start by MCP_TRANSPORT" },
    ],
    default: "stdio",
  },
  samples: {
    type: "boolean",
    scope: "project",
    prompt: "Add the sample tools? One folder, deleted in a minute",
    help: "the sample tools, in one folder that can be deleted whole",
    default: (answers) => !(answers.tools as string[] | undefined)?.length,
    defaultText: "yes, unless --tools is given",
  },
  tools: {
    type: "names",
    scope: "project",
    prompt: "Names of your own tools, comma-separated (empty: none yet)",
    help: "your own tools; each becomes a stub with schemas and passing tests",
    example: "list_repos,close-issue",
    default: [],
    problem: toolNamesProblem,
  },
  docker: {
    type: "boolean",
    scope: "project",
    prompt: "Add a Dockerfile?",
    help: "a multi-stage, non-root Dockerfile; with HTTP also compose.yaml",
    default: (answers) => (answers.deploy ?? "none") !== "none",
    defaultText: "no; yes with --deploy nginx or kubernetes",
  },
  progress: {
    type: "boolean",
    scope: "project",
    prompt: "Report progress from long-running tools?",
    help: "throttled progress notifications for long-running tools",
    default: true,
  },
  auth: {
    type: "choice",
    scope: "project",
    prompt: "Who may call it over HTTP?",
    help: "who may call the server over HTTP",
    choices: [
      {
        value: "token",
        label: "shared tokens",
        hint: "bearer tokens from the environment, named and rotatable",
      },
      {
        value: "oauth",
        label: "OAuth 2.1",
        hint: "access tokens of your authorization server",
      },
      {
        value: "none",
        label: "anyone who reaches it",
        hint: "it then refuses to listen beyond this machine",
      },
    ],
    default: "token",
    when: (answers) => answers.transport !== "stdio",
    whenText: "only with --transport http or both",
    otherwise: "none",
  },
  sdk: {
    type: "choice",
    scope: "project",
    prompt: "Which line of the MCP SDK?",
    help: "the line of the MCP SDK that the server is built on",
    choices: [
      { value: "v1", label: "v1", hint: "protocol up to 2025-11-25; only fixes, until early 2027" },
      {
        value: "v2",
        label: "v2",
        hint: "protocol 2026-07-28 and every older one; in full development",
      },
    ],
    default: defaultSdk,
  },
  deploy: {
    type: "choice",
    scope: "project",
    prompt: "How will replicas be run?",
    help: "how replicas of the image are run",
    choices: [
      { value: "none", label: "not at all", hint: "one container, or decided later" },
      { value: "nginx", label: "nginx", hint: "compose.yaml with three replicas behind nginx" },
      { value: "kubernetes", label: "Kubernetes", hint: "Deployment and Service; scaling in a second file" },
    ],
    default: "none",
    when: (answers) => answers.transport !== "stdio" && answers.docker === true,
    whenText: "only with --docker and --transport http or both",
    otherwise: "none",
  },
  ci: {
    type: "boolean",
    scope: "project",
    prompt: "Add a GitHub Actions workflow?",
    help: "a GitHub Actions workflow: lint, typecheck, test, build on each Node LTS",
    default: true,
  },
  pm: {
    type: "choice",
    scope: "project",
    prompt: "Which package manager?",
    help: "the package manager that scripts, Dockerfile and workflow use",
    choices: [
      { value: "npm", label: "npm", hint: "comes with Node" },
      { value: "pnpm", label: "pnpm", hint: "strict and fast" },
      { value: "yarn", label: "Yarn", hint: "version 1 in Docker and CI; later ones install it too" },
      { value: "bun", label: "Bun", hint: "as the installer; the server runs on Node" },
    ],
    default: (answers) => answers.invokedBy as string,
    defaultText: "the one that started this command, else npm",
  },
  install: {
    type: "boolean",
    scope: "run",
    prompt: "Install the dependencies now?",
    help: "install the dependencies",
    default: true,
  },
  git: {
    type: "boolean",
    scope: "run",
    prompt: "Initialise git with a first commit?",
    help: "initialise git with a first commit",
    default: true,
  },
} as const satisfies Record<string, Option>;

export type OptionName = keyof typeof options;

type ValueOf<O extends Option> = O extends { choices: readonly { value: infer V }[] }
  ? V
  : O extends { type: "boolean" }
    ? boolean
    : O extends { type: "names" }
      ? readonly string[]
      : string;

/** An answer to every option. */
export type Choices = { -readonly [Name in OptionName]: ValueOf<(typeof options)[Name]> };

/** What a project is made of: the answers that the manifest records and the plan works from. */
export type Answers = { name: string } & Omit<Choices, RunOption>;

type RunOption = { [N in OptionName]: (typeof options)[N]["scope"] extends "run" ? N : never }[OptionName];

/** The options in declaration order, with their general type. */
export const optionList = Object.entries(options) as [OptionName, Option][];
