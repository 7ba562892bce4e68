import type { Project } from "./project.ts";
import type { Dependency } from "./versions.ts";

/** A folder of `templates`, when its files belong to a project, and what they need in package.json. */
export interface Overlay {
  readonly folder: string;
  readonly when: (project: Project) => boolean;
  readonly dependencies?: readonly Dependency[];
  readonly devDependencies?: readonly Dependency[];
}

/** Every overlay. A file of a later one replaces the same file of an earlier one. */
export const overlays: readonly Overlay[] = [
  {
    folder: "base",
    when: () => true,
    dependencies: ["pino", "zod"],
    devDependencies: ["@biomejs/biome", "@types/node", "tsx", "typescript", "vite", "vitest"],
  },
  { folder: "transport-stdio", when: (project) => project.stdio },
  {
    folder: "transport-http",
    when: (project) => project.http,
    dependencies: ["cors", "express"],
    devDependencies: ["@types/cors", "@types/express"],
  },
  {
    folder: "sdk-v1",
    when: (project) => project.sdk === "v1",
    dependencies: ["@modelcontextprotocol/sdk"],
  },
  { folder: "sdk-v1-http", when: (project) => project.sdk === "v1" && project.http },
  {
    folder: "sdk-v2",
    when: (project) => project.sdk === "v2",
    dependencies: ["@modelcontextprotocol/server"],
    devDependencies: ["@modelcontextprotocol/client"],
  },
  {
    folder: "sdk-v2-http",
    when: (project) => project.sdk === "v2" && project.http,
    dependencies: ["@modelcontextprotocol/node"],
  },
  { folder: "auth-token", when: (project) => project.auth === "token" },
  { folder: "auth-oauth", when: (project) => project.auth === "oauth", dependencies: ["jose"] },
  { folder: "progress", when: (project) => project.progress },
  { folder: "samples", when: (project) => project.samples, dependencies: ["ky"] },
  { folder: "samples-progress", when: (project) => project.samples && project.progress },
  { folder: "docker", when: (project) => project.docker },
  { folder: "docker-http", when: (project) => project.docker && project.http },
  { folder: "deploy-nginx", when: (project) => project.deploy === "nginx" },
  { folder: "deploy-nginx-token", when: (project) => project.deploy === "nginx" && project.auth === "token" },
  { folder: "deploy-kubernetes", when: (project) => project.deploy === "kubernetes" },
  { folder: "ci", when: (project) => project.ci },
  { folder: "pnpm", when: (project) => project.pm === "pnpm" },
  { folder: "yarn", when: (project) => project.pm === "yarn" },
];

/** The folder whose two templates are rendered once for each of a person's own tools. */
export const stubFolder = "stub";
