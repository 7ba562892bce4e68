/**
 * The one version catalogue: every version that a generated project depends on stands here once, with the Node range
 * it needs. They are exact, so that two projects made on different days are the same.
 */
export const versions = {
  "@biomejs/biome": { version: "2.6.8", node: ">=14.21.3" },
  "@modelcontextprotocol/client": { version: "2.4.0", node: ">=20" },
  "@modelcontextprotocol/inspector": { version: "2.12.0", node: ">=22.19.0" },
  "@modelcontextprotocol/node": { version: "2.1.2", node: ">=20" },
  "@modelcontextprotocol/sdk": { version: "1.32.2", node: ">=18" },
  "@modelcontextprotocol/server": { version: "2.4.0", node: ">=20" },
  "@types/cors": { version: "2.8.19", node: "*" },
  "@types/express": { version: "5.0.6", node: "*" },
  "@types/node": { version: "20.19.43", node: "*" },
  cors: { version: "2.8.6", node: ">=0.10" },
  express: { version: "5.3.0", node: ">=18" },
  jose: { version: "6.2.18", node: "*" },
  ky: { version: "1.14.3", node: ">=18" },
  pino: { version: "10.4.0", node: ">=20" },
  tsx: { version: "4.23.15", node: ">=18" },
  typescript: { version: "7.0.2", node: ">=16.20" },
  // 8.4.0 has an optional dependency that not every registry carries; without it `npm ci` and Yarn fail.
  vite: { version: "8.3.8", node: "^20.19.0 || >=22.12.0" },
  vitest: { version: "4.1.12", node: "^20.0.0 || ^22.0.0 || >=24.0.0" },
  zod: { version: "4.6.7", node: "*" },
} as const;

export type Dependency = keyof typeof versions;

/** The Node versions that generated projects run on. */
export const supportedNode = ">=20.19";

/** Node's long-term support lines that the CI workflow tests on. */
export const nodeLines = ["20", "22", "24", "26"] as const;

/** The Node line of the container image: a current LTS. */
export const imageNode = "24";

/** The package managers that the image and the workflow install, by exact version; npm comes with Node. */
export const packageManagerVersions = { pnpm: "12.21.0", yarn: "1.22.22", bun: "1.4.5" } as const;

/** The version of the nginx image that stands before replicas. */
export const nginxVersion = "1.30.5";
