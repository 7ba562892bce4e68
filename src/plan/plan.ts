import { templates } from "virtual:templates";
import type { Answers } from "../options/declaration.ts";
import { composeManifest, manifestPath } from "./manifest.ts";
import { overlays, stubFolder } from "./overlays.ts";
import { composePackageJson } from "./package-json.ts";
import { describeProject, type PlannedTool, type Project } from "./project.ts";

export interface PlannedFile {
  /** Relative to the project, with forward slashes. */
  readonly path: string;
  readonly content: string;
}

/**
 * Works out every file of a project, sorted by path. It is pure: the same answers give the same bytes, whatever the
 * clock, the network and the file system say.
 */
export function planProject(answers: Answers): PlannedFile[] {
  const project = describeProject(answers);
  const chosen = overlays.filter((overlay) => overlay.when(project));
  const files = new Map<string, string>();
  for (const { folder } of chosen) {
    for (const [path, content] of renderFolder(folder, project)) files.set(path, content);
  }
  for (const tool of project.stubs) {
    for (const [path, content] of renderFolder(stubFolder, { ...project, tool })) {
      files.set(path.replace("tool", stubPath(tool)), content);
    }
  }
  files.set("package.json", formatJson(composePackageJson(project, chosen)));
  files.set(manifestPath, formatJson(composeManifest(answers, files)));
  return [...files].map(([path, content]) => ({ path, content })).sort((a, b) => (a.path < b.path ? -1 : 1));
}

function stubPath(tool: PlannedTool): string {
  return `src/tools/${tool.importPath.slice("./".length, -".js".length)}`;
}

function* renderFolder(
  folder: string,
  context: Project & { tool?: PlannedTool },
): Generator<[string, string]> {
  for (const [name, template] of Object.entries(templates)) {
    if (!name.startsWith(`${folder}/`)) continue;
    const path = name.slice(folder.length + 1).replace(/\.hbs$/, "");
    yield [path, typeof template === "string" ? template : template(context)];
  }
}

function formatJson(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}
