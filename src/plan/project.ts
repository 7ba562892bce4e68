import type { Answers } from "../options/declaration.ts";
import { sampleToolNames, toolFileName, toolIdentifier, toolTitle } from "../options/tool-names.ts";
import { packageManagers } from "./package-managers.ts";
import {
  imageNode,
  nginxVersion,
  nodeLines,
  packageManagerVersions,
  supportedNode,
  versions,
} from "./versions.ts";

/** A tool as templates see it. */
export interface PlannedTool {
  readonly name: string;
  readonly title: string;
  readonly identifier: string;
  /** As `src/tools/index.ts` imports it. */
  readonly importPath: string;
}

/** The name of the one stub where neither samples nor names were chosen. */
const onlyStub = "example";

/** Everything that templates and overlay conditions can see. */
export type Project = ReturnType<typeof describeProject>;

/** Works out from the answers all that depends on more than one of them. */
export function describeProject(answers: Answers) {
  const { auth, samples, sdk, transport } = answers;
  /** Only SDK v1 keeps a state for each client over HTTP. */
  const sessions = sdk === "v1" && transport !== "stdio";
  const own = answers.tools.length > 0 || samples ? answers.tools : [onlyStub];
  const stubs = withOwnIdentifiers(own.map(stub));
  const tools = [...sampleToolNames(answers).map(sample), ...stubs];
  return {
    ...answers,
    shortName: shortName(answers.name),
    serviceName: serviceName(answers.name),
    /** Where a project has both transports, a host needs a name for each. */
    httpName: shortName(answers.name) + (transport === "both" ? "-http" : ""),
    stdio: transport !== "http",
    http: transport !== "stdio",
    sessions,
    /** Whether the configuration has a variable that is true or false. */
    flags: sessions || auth === "none",
    stubs,
    tools,
    /** The same as the registry imports them: sorted by path, as the linter wants it. */
    toolImports: [...tools].sort(byImportPath),
    packageManager: packageManagers[answers.pm],
    versions,
    supportedNode,
    nodeLines,
    imageNode,
    nginxVersion,
    packageManagerVersions,
  };
}

/** The package name as hosts and container engines can take it too: words of letters and digits, without a scope. */
function shortName(packageName: string): string {
  const words = packageName.replace(/^@[^/]+\//, "").match(/[a-z0-9]+/gi);
  return words?.join("-").toLowerCase() ?? "mcp-server";
}

/** The same as Kubernetes takes it for a Service: it begins with a letter and has at most 63 characters (RFC 1035). */
function serviceName(packageName: string): string {
  const name = shortName(packageName);
  return (/^[a-z]/.test(name) ? name : `mcp-${name}`).slice(0, 63).replace(/-$/, "");
}

/** Two long names can have the same beginning, which is all that an identifier keeps. */
function withOwnIdentifiers(tools: readonly PlannedTool[]): PlannedTool[] {
  const taken = new Set<string>();
  return tools.map((tool) => {
    let identifier = tool.identifier;
    for (let number = 2; taken.has(identifier); number++) identifier = `${tool.identifier}${number}`;
    taken.add(identifier);
    return { ...tool, identifier };
  });
}

/** The linter's order: by the path without its ending, and numbers by their value. */
function byImportPath(a: PlannedTool, b: PlannedTool): number {
  const key = ({ importPath }: PlannedTool) =>
    importPath.slice(0, -".js".length).replace(/\d+/g, (digits) => digits.padStart(64, "0"));
  return key(a) < key(b) ? -1 : 1;
}

function stub(name: string): PlannedTool {
  return {
    name,
    title: toolTitle(name),
    identifier: toolIdentifier(name),
    importPath: `./${toolFileName(name)}.js`,
  };
}

function sample(name: string): PlannedTool {
  return { ...stub(name), importPath: `./samples/${toolFileName(name)}.js` };
}
