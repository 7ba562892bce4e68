import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { planProject } from "../../src/plan/plan.ts";
import { combinations, describeCombination } from "../support/combinations.ts";
import { plainAnswers } from "../support/generated.ts";

const projects = combinations.map((answers) => {
  const files = new Map(planProject(answers).map((file) => [file.path, file.content]));
  const read = (path: string) => files.get(path) ?? "";
  return { answers, files, read, readme: read("README.md"), name: describeCombination(answers) };
});

/** Fails with what a check finds wrong, each with one combination that has it. */
function expectInAll(findings: (project: (typeof projects)[number]) => string[]): void {
  const examples = new Map<string, string>();
  for (const project of projects) {
    for (const finding of findings(project)) examples.set(finding, project.name);
  }
  expect(Object.fromEntries(examples)).toEqual({});
}

function matches(text: string, pattern: RegExp): string[] {
  return [...new Set([...text.matchAll(pattern)].map((match) => match[1] ?? match[0]))];
}

function without(all: string[], some: string[]): string[] {
  return all.filter((one) => !some.includes(one));
}

/** Variables as config.ts declares them. */
const declared = (config: string) => matches(config, /^\s+([A-Z][A-Z_]+): /gm);

describe("README.md and AGENTS.md", () => {
  test("are short", () => {
    expectInAll(({ read, readme }) => [
      ...(readme.split("\n").length > 151 ? [`README.md has ${readme.split("\n").length - 1} lines`] : []),
      ...(read("AGENTS.md").split("\n").length > 61 ? ["AGENTS.md is long"] : []),
    ]);
  });

  test("leave no gaps behind where a part was left out", () => {
    expectInAll(({ read }) =>
      ["README.md", "AGENTS.md", ".env.example"].filter((path) => /\n\n\n|[ \t]\n|\n\n$/.test(read(path))),
    );
  });

  test("name files that are there", () => {
    // What a reader is told to create, or what stands in other places than the project.
    const elsewhere = [
      ".env",
      ".mcp.json",
      ".cursor/mcp.json",
      ".vscode/mcp.json",
      "claude_desktop_config.json",
    ];
    const example = ["src/tools/my-tool.ts", "src/tools/my-tool.test.ts"];
    expectInAll(({ files, read, readme }) => {
      const named = matches(readme + read("AGENTS.md"), /`([\w./-]*(?:\.(?:ts|js|json|ya?ml|example)|\/))`/g);
      const own = without(named, [...elsewhere, ...example, "dist/index.js", "/path/to/dist/index.js"]);
      return own.filter(
        (path) => ![...files.keys()].some((f) => f === path || (path.endsWith("/") && f.startsWith(path))),
      );
    });
  });

  test("describe every file at the top and in src", () => {
    const undescribed = [
      "README.md",
      "AGENTS.md",
      "package.json",
      "tsconfig.json",
      "tsconfig.build.json",
      ".gitignore",
    ];
    expectInAll(({ files, readme }) =>
      without([...files.keys()], undescribed).filter((path) => {
        const folders = path.split("/").map((_, i, parts) => `${parts.slice(0, i + 1).join("/")}/`);
        return ![path, ...folders].some((name) => readme.includes(name));
      }),
    );
  });

  test("name the variables that the server reads, and no other", () => {
    expectInAll(({ read, readme }) => {
      const variables = declared(read("src/config.ts"));
      const table = readme.slice(readme.indexOf("## Configuration"), readme.indexOf("## Deployment"));
      const named = matches(table, /`([A-Z][A-Z_]+)`/g);
      const anywhere = matches(readme + read("AGENTS.md"), /\b(?:MCP_[A-Z_]+|HOST|PORT|ORDERS_URL)\b/g);
      return [...without(variables, named), ...without(anywhere, [...variables, "MCP_TOKEN"])];
    });
  });

  test("say the defaults that config.ts has", () => {
    expectInAll(({ read, readme }) =>
      [
        ...read("src/config.ts").matchAll(/^\s+([A-Z][A-Z_]+): (?:.*\.default\((.+?)\)|flag\(\)),$/gm),
      ].flatMap(([, name, value]) => {
        const expected = (value ?? "false").replace(/[_"]/g, "");
        const row = readme
          .split("\n")
          .find((line) => line.startsWith("|") && line.split("|")[1]?.includes(`\`${name}\``));
        const cells = row?.split("|") ?? [];
        const position = matches(cells[1] ?? "", /`(\w+)`/g).indexOf(name as string);
        return matches(`${cells[2]}`, /`(\w[^`]*)`/g)[position] === expected
          ? []
          : [`${name} is ${expected}`];
      }),
    );
  });

  test("use the chosen package manager's commands", () => {
    expectInAll(({ answers, read, readme }) => {
      const commands = matches(readme + read("AGENTS.md"), /(?:^|`)((?:npm|pnpm|yarn|bun) [^`\n]*)/gm);
      return commands.filter((command) => !command.startsWith(`${answers.pm} `));
    });
  });

  test("name scripts that package.json has", () => {
    expectInAll(({ read, readme }) => {
      const { scripts } = JSON.parse(read("package.json")) as { scripts: Record<string, string> };
      const run = matches(
        readme + read("AGENTS.md"),
        /(?:npm|pnpm|yarn|bun)(?: --silent)? run(?: --silent)? (\w+)/g,
      );
      return without(run, Object.keys(scripts));
    });
  });
});

describe("host configuration", () => {
  const blocks = (readme: string) =>
    matches(readme, /```json\n([\s\S]*?)```/g).map((block) => JSON.parse(block));

  test.each(
    projects.filter(
      ({ answers }) => answers.pm === "npm" && answers.ci && answers.docker && answers.progress,
    ),
  )("$name", ({ answers, readme }) => {
    const [others, vscode, ...rest] = blocks(readme);
    expect(rest).toEqual([]);
    const authorization = (reference: string) =>
      answers.auth === "token" ? { headers: { Authorization: `Bearer \${${reference}}` } } : {};
    const stdio = { command: "node", args: ["/path/to/dist/index.js"] };
    const http = { type: "http", url: "http://127.0.0.1:3001/mcp" };
    const withStdio = answers.transport !== "http";
    const httpName = answers.transport === "both" ? "test-server-http" : "test-server";
    const entries = (stdioEntry: object, reference: string) => ({
      ...(withStdio && { "test-server": stdioEntry }),
      ...(answers.transport !== "stdio" && { [httpName]: { ...http, ...authorization(reference) } }),
    });
    expect(others).toEqual({ mcpServers: entries(stdio, "MCP_TOKEN") });
    expect(vscode.servers).toEqual(entries({ type: "stdio", ...stdio }, "input:token"));
    expect(vscode.inputs?.[0].password).toBe(answers.auth === "token" ? true : undefined);
  });

  test.each([
    ["@acme/files", "files"],
    ["a.b_c", "a-b-c"],
    ["~x", "x"],
  ])("calls %s %s, which every host and container engine takes", (name, shortName) => {
    const answers = { ...plainAnswers, name, docker: true, transport: "both" as const };
    const readme = planProject(answers).find(({ path }) => path === "README.md")?.content ?? "";
    expect(readme).toContain(`claude mcp add ${shortName} -- node`);
    expect(readme).toContain(`docker build --tag ${shortName} .`);
    expect(Object.keys(blocks(readme)[0].mcpServers)).toEqual([shortName, `${shortName}-http`]);
  });
});

describe(".env.example", () => {
  test("has every variable that the server reads, each commented out", () => {
    expectInAll(({ read }) => {
      const text = read(".env.example");
      const named = matches(text, /^# ([A-Z][A-Z_]+)=/gm);
      const variables = declared(read("src/config.ts"));
      const active = text.split("\n").filter((line) => line !== "" && !line.startsWith("#"));
      return [...without(variables, named), ...without(named, variables), ...active];
    });
  });

  test("has no secret that somebody could use", () => {
    expectInAll(({ read }) => matches(read(".env.example"), /MCP_AUTH_TOKENS=.+/g));
  });
});

describe("compose.yaml", () => {
  test("passes every variable through and gives the container few rights", () => {
    expectInAll(({ answers, read, files }) => {
      if (!files.has("compose.yaml")) return [];
      const { server, nginx, ...others } = parse(read("compose.yaml")).services;
      expect(others).toEqual({});
      expect(nginx !== undefined).toBe(answers.deploy === "nginx");
      for (const service of [server, ...(nginx ? [nginx] : [])]) {
        expect(service).toMatchObject({
          read_only: true,
          cap_drop: ["ALL"],
          security_opt: ["no-new-privileges:true"],
          restart: "unless-stopped",
        });
      }
      expect((nginx ?? server).ports).toEqual([expect.stringMatching(/^127\.0\.0\.1:/)]);
      const probe = ["CMD", "node", "-e", expect.stringContaining("/livez")];
      expect(server.healthcheck.test).toEqual(probe);
      const passed = Object.keys(server.environment);
      const sessions = nginx ? ["MCP_MAX_SESSIONS", "MCP_SESSION_IDLE_MS"] : [];
      const variables = without(declared(read("src/config.ts")), ["HOST", "MCP_TRANSPORT", ...sessions]);
      return [...without(variables, passed), ...without(passed, variables)];
    });
  });
});

describe("nginx", () => {
  test("stands before stateless replicas that nobody else reaches, as nobody in particular", () => {
    expectInAll(({ answers, read, files }) => {
      const own = [...files.keys()].filter((file) => file.startsWith("nginx/"));
      if (answers.deploy !== "nginx") return own;
      const { server, nginx } = parse(read("compose.yaml")).services;
      expect(server.deploy.replicas).toBe(3);
      expect(server.ports).toBeUndefined();
      expect(server.environment).toMatchObject({ MCP_TRUST_PROXY: expect.anything() });
      // SDK v2 knows nothing else.
      expect(server.environment.MCP_STATELESS).toBe(answers.sdk === "v1" ? "true" : undefined);
      expect(nginx.image).toMatch(/^nginxinc\/nginx-unprivileged:\d+\.\d+\.\d+-alpine$/);
      expect(nginx.tmpfs).toEqual(["/tmp"]);
      expect(nginx.healthcheck.test).toContain("http://127.0.0.1:8080/livez");
      const mounted = nginx.volumes.map((volume: string) =>
        volume.replace(/^\.\/(.*):\/etc\/(.*):ro$/, "$1=$2"),
      );
      return without(
        mounted,
        own.map((file) => `${file}=${file}`),
      ).concat(own.length === mounted.length ? [] : ["a file is not mounted"]);
    });
  });

  test("has the server's own limits, and closes unused connections before it", () => {
    expectInAll(({ answers, read }) => {
      if (answers.deploy !== "nginx") return [];
      const conf = read("nginx/nginx.conf");
      const [, limit] = /MCP_BODY_LIMIT: .*\.default\(([\d_]+)\)/.exec(read("src/config.ts")) ?? [];
      const [, timeout] = /MCP_REQUEST_TIMEOUT_MS: .*\.default\(([\d_]+)\)/.exec(read("src/config.ts")) ?? [];
      const [, kept] = /keepAliveMs = ([\d_]+)/.exec(read("src/http/serve.ts")) ?? [];
      const number = (text: string | undefined) => Number(text?.replaceAll("_", ""));
      const [, upstream] = /\bkeepalive_timeout (\d+)s;/.exec(conf) ?? [];
      return [
        ...(conf.includes(`client_max_body_size ${number(limit)};`) ? [] : ["the body limit"]),
        ...(conf.includes(`client_body_timeout ${number(timeout) / 1000}s;`) ? [] : ["the time-out"]),
        ...(number(upstream) * 1000 < number(kept) ? [] : ["the keep-alive"]),
        ...(conf.includes("proxy_buffering off;") ? [] : ["buffering"]),
      ];
    });
  });
});

describe("Dockerfile", () => {
  test("keeps to the rules", () => {
    expectInAll(({ answers, read, files }) => {
      if (!answers.docker) return files.has("Dockerfile") ? ["is there"] : [];
      const lines = read("Dockerfile").split("\n");
      const last = lines.slice(lines.findLastIndex((line) => line.startsWith("FROM ")));
      expect(last).toContain("USER node");
      expect(last.filter((line) => line.startsWith("RUN "))).toEqual([]);
      expect(last).toContain('CMD ["node", "dist/index.js"]');
      expect(last.some((line) => line.startsWith("HEALTHCHECK"))).toBe(answers.transport !== "stdio");
      expect(last.includes("ENV HOST=0.0.0.0")).toBe(answers.transport !== "stdio");
      expect(last.includes("ENV MCP_TRANSPORT=http")).toBe(answers.transport === "both");
      return lines.filter((line) => /\b(apk|apt|apt-get)\b|@latest/.test(line));
    });
  });
});

describe("CI workflow", () => {
  test("tests on every Node line, with read access only", () => {
    expectInAll(({ answers, read, files }) => {
      const file = ".github/workflows/ci.yml";
      if (!answers.ci) return files.has(file) ? ["is there"] : [];
      const workflow = parse(read(file));
      expect(workflow.permissions).toEqual({ contents: "read" });
      expect(workflow.jobs.test.strategy.matrix.node).toEqual([20, 22, 24, 26]);
      const uses = matches(read(file), /uses: (.+)/g);
      expect(
        without(
          uses,
          uses.filter((action) => /^actions\/[\w-]+@v\d+$/.test(action)),
        ),
      ).toEqual([]);
      expect(workflow.jobs.test.steps[1].with["node-version"]).toMatch(/^\$\{\{ matrix\.node \}\}$/);
      const steps = workflow.jobs.test.steps.map((step: { run?: string }) => step.run ?? "").join("\n");
      const needed = [
        /^(npm ci|\w+ install --frozen-lockfile)$/m,
        /run lint$/m,
        /run typecheck$/m,
        /test$/m,
        /run build$/m,
      ];
      expect("image" in workflow.jobs).toBe(answers.docker);
      return needed.filter((pattern) => !pattern.test(steps)).map(String);
    });
  });
});
