import type { Answers } from "../options/declaration.ts";
import { toolFileName, toolIdentifier, toolTitle } from "../options/tool-names.ts";
import { packageManagers } from "./package-managers.ts";
import { imageNode, nodeLines, packageManagerVersions, supportedNode, versions } from "./versions.ts";

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
  const { samples, progress, transport } = answers;
  const own = answers.tools.length > 0 || samples ? answers.tools : [onlyStub];
  const stubs = own.map(stub);
  const sampleTools = samples ? [sample("reserve_seat"), sample("query_order")] : [];
  if (samples && progress) sampleTools.push(sample("batch_translate"));
  const tools = [...sampleTools, ...stubs];
  return {
    ...answers,
    stdio: transport !== "http",
    http: transport !== "stdio",
    stubs,
    tools,
    /** The same as the registry imports them: sorted by path, as the linter wants it. */
    toolImports: [...tools].sort((a, b) => (a.importPath < b.importPath ? -1 : 1)),
    firstTool: tools[0] as PlannedTool,
    packageManager: packageManagers[answers.pm],
    versions,
    supportedNode,
    nodeLines,
    imageNode,
    packageManagerVersions,
  };
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
