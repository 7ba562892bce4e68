/** How each package manager is spoken to. */
export const packageManagers = {
  npm: {
    name: "npm",
    install: "npm install",
    cleanInstall: "npm ci",
    productionInstall: "npm ci --omit=dev",
    remove: "npm uninstall",
    run: "npm run",
    runSilent: "npm run --silent",
    test: "npm test",
    execute: "npx --yes",
    lockFile: "package-lock.json",
    create: "npm create mcp-server@latest",
    /** What separates a package manager's own flags from those of what it starts. */
    flagSeparator: "-- ",
  },
  pnpm: {
    name: "pnpm",
    install: "pnpm install",
    cleanInstall: "pnpm install --frozen-lockfile",
    productionInstall: "pnpm install --frozen-lockfile --prod",
    remove: "pnpm remove",
    run: "pnpm run",
    runSilent: "pnpm --silent run",
    test: "pnpm test",
    execute: "pnpm dlx",
    lockFile: "pnpm-lock.yaml",
    create: "pnpm create mcp-server@latest",
    flagSeparator: "",
  },
  yarn: {
    name: "yarn",
    install: "yarn install",
    cleanInstall: "yarn install --frozen-lockfile",
    productionInstall: "yarn install --frozen-lockfile --production",
    remove: "yarn remove",
    run: "yarn run",
    runSilent: "yarn --silent run",
    test: "yarn test",
    execute: "npx --yes",
    lockFile: "yarn.lock",
    create: "yarn create mcp-server",
    flagSeparator: "",
  },
  bun: {
    name: "bun",
    install: "bun install",
    cleanInstall: "bun install --frozen-lockfile",
    productionInstall: "bun install --frozen-lockfile --production",
    remove: "bun remove",
    run: "bun run",
    runSilent: "bun run --silent",
    test: "bun run test",
    execute: "bunx",
    lockFile: "bun.lock",
    create: "bun create mcp-server@latest",
    flagSeparator: "",
  },
} as const;

export type PackageManager = keyof typeof packageManagers;

/**
 * The package manager that started this process, from the user agent that all of them set for what they run; npm
 * where there is none.
 */
export function invokingPackageManager(userAgent: string | undefined): PackageManager {
  const name = /^(\w+)\//.exec(userAgent ?? "")?.[1] ?? "";
  return Object.hasOwn(packageManagers, name) ? (name as PackageManager) : "npm";
}
