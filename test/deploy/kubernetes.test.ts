import { describe, expect, test } from "vitest";
import { parseAllDocuments } from "yaml";
import { planProject } from "../../src/plan/plan.ts";
import { combinations, describeCombination } from "../support/combinations.ts";
import { plainAnswers } from "../support/generated.ts";
import { type Document, schemaProblem, unknownFields } from "./kubernetes-api.ts";

function documentsIn(yaml: string): Document[] {
  return parseAllDocuments(yaml).map((document) => {
    expect(document.errors).toEqual([]);
    return document.toJS();
  });
}

function projectOf(answers: (typeof combinations)[number]) {
  const files = new Map(planProject(answers).map(({ path, content }) => [path, content]));
  const read = (path: string) => files.get(path) ?? "";
  const own = [...files.keys()].filter((path) => path.startsWith("kubernetes/"));
  return { answers, read, own, name: describeCombination(answers) };
}

const projects = combinations.map(projectOf);
const deployed = projects.filter(({ answers }) => answers.deploy === "kubernetes");

/** One project for each distinct pair of files. */
const distinct = [
  ...new Map(
    deployed.map((project) => [
      project.read("kubernetes/server.yaml") + project.read("kubernetes/scaling.yaml"),
      project,
    ]),
  ).values(),
];

const servers = distinct.map(({ name, answers, read }) => {
  const [deployment, service, ...others] = documentsIn(read("kubernetes/server.yaml"));
  const [autoscaler, budget, ingress, ...more] = documentsIn(read("kubernetes/scaling.yaml"));
  expect([...others, ...more]).toEqual([]);
  return { name, answers, read, deployment, service, autoscaler, budget, ingress };
});

test("the files are there where they were chosen, and nowhere else", () => {
  expect(distinct.length).toBeGreaterThan(1);
  for (const { answers, own, name } of projects) {
    const files = ["kubernetes/scaling.yaml", "kubernetes/server.yaml"];
    expect(own, name).toEqual(answers.deploy === "kubernetes" ? files : []);
  }
});

describe("the API", () => {
  const documents = servers.flatMap(({ deployment, service, autoscaler, budget, ingress }) => [
    deployment,
    service,
    autoscaler,
    budget,
    ingress,
  ]);

  test("takes every document of every combination", () => {
    expect(documents.map((document) => document.kind)).toEqual(
      servers.flatMap(() => [
        "Deployment",
        "Service",
        "HorizontalPodAutoscaler",
        "PodDisruptionBudget",
        "Ingress",
      ]),
    );
    expect(documents.flatMap((document) => schemaProblem(document) ?? [])).toEqual([]);
  });

  test("knows every field of every document", async () => {
    const [first] = documents;
    const misspelt = structuredClone(first);
    misspelt.spec.template.spec.terminationGracePeriod = 20;
    const complaints = await unknownFields([...documents, misspelt]);
    expect(complaints.slice(0, -1).filter(Boolean)).toEqual([]);
    expect(complaints.at(-1)).toMatch(/terminationGracePeriod/);
  });

  const breakages: [string, (all: (typeof servers)[number]) => Document, RegExp][] = [
    [
      "a text for a number",
      ({ deployment: d }) => ({ ...d, spec: { ...d.spec, replicas: "3" } }),
      /replicas/,
    ],
    ["no template", ({ deployment: d }) => ({ ...d, spec: { selector: d.spec.selector } }), /template/],
    ["an old version", ({ budget }) => ({ ...budget, apiVersion: "policy/v1beta1" }), /apiVersion/],
    ["a path without type", ({ ingress: i }) => without(i, "pathType"), /pathType/],
    ["an autoscaler of nothing", ({ autoscaler: a }) => without(a, "scaleTargetRef"), /scaleTargetRef/],
    ["a port without number", ({ service: s }) => without(s, "port"), /port/],
    ["an unknown kind", ({ service: s }) => ({ ...s, kind: "Servis" }), /Servis/],
  ];
  test.each(breakages)("refuses %s", (_, broken, says) => {
    expect(schemaProblem(broken(servers[0] as (typeof servers)[number]))).toMatch(says);
  });

  /** A copy without a field, wherever it stands. */
  function without(document: Document, field: string): Document {
    return JSON.parse(JSON.stringify(document, (key, value) => (key === field ? undefined : value)));
  }
});

describe.each(servers)("$name", ({ answers, read, deployment, service, autoscaler, budget, ingress }) => {
  const pod = deployment.spec.template.spec;
  const [container, ...sidecars] = pod.containers;
  const env = new Map<string, Document>(container.env.map((entry: Document) => [entry.name, entry]));

  test("the pod has few rights", () => {
    expect(sidecars).toEqual([]);
    expect(pod.automountServiceAccountToken).toBe(false);
    expect(pod.securityContext).toMatchObject({
      runAsNonRoot: true,
      runAsUser: expect.any(Number),
      seccompProfile: { type: "RuntimeDefault" },
    });
    expect(pod.securityContext.runAsUser).toBeGreaterThan(0);
    expect(container.securityContext).toEqual({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ["ALL"] },
    });
    expect(container.resources).toMatchObject({
      requests: { cpu: expect.any(String), memory: expect.any(String) },
      limits: { memory: expect.any(String) },
    });
  });

  test("a dependency that is down takes the pod out of service, and does not restart it", () => {
    const paths = [container.startupProbe, container.livenessProbe, container.readinessProbe].map(
      (probe) => `${probe.httpGet.port} ${probe.httpGet.path}`,
    );
    expect(paths).toEqual(["http /livez", "http /livez", "http /health"]);
    const [, checkMs] = /checkTimeoutMs = (\d+)/.exec(read("src/http/health.ts")) ?? [];
    expect(container.readinessProbe.timeoutSeconds * 1000).toBeGreaterThan(Number(checkMs));
  });

  test("a pod that goes has time to be forgotten, and then to finish", () => {
    const forgotten = container.lifecycle.preStop.sleep.seconds;
    const running = Number(env.get("MCP_SHUTDOWN_MS").value) / 1000;
    expect(forgotten).toBeGreaterThanOrEqual(5);
    expect(pod.terminationGracePeriodSeconds).toBeGreaterThan(forgotten + running + 1);
    expect(deployment.spec.strategy.rollingUpdate.maxUnavailable).toBe(0);
  });

  test("the environment is the server's own, stateless, and holds no secret", () => {
    const declared = [...read("src/config.ts").matchAll(/^\s+([A-Z][A-Z_]+): /gm)].map((match) => match[1]);
    expect([...env.keys()].filter((name) => !declared.includes(name))).toEqual([]);
    expect(env.get("HOST").value).toBe("0.0.0.0");
    expect(env.get("PORT").value).toBe(String(container.ports[0].containerPort));
    expect(env.get("MCP_STATELESS")?.value).toBe(answers.sdk === "v1" ? "true" : undefined);
    expect(env.get("MCP_ALLOWED_HOSTS").value.split(",")).toEqual([
      service.metadata.name,
      ingress.spec.rules[0].host,
    ]);
    expect(env.get("MCP_TRANSPORT")?.value).toBe(answers.transport === "both" ? "http" : undefined);
    expect(env.get("MCP_AUTH_TOKENS")).toEqual(
      answers.auth === "token"
        ? {
            name: "MCP_AUTH_TOKENS",
            valueFrom: { secretKeyRef: { name: service.metadata.name, key: "tokens" } },
          }
        : undefined,
    );
    // Without auth, a person has to decide.
    expect(env.get("MCP_ALLOW_UNAUTHENTICATED")?.value).toBe(answers.auth === "none" ? "false" : undefined);
  });

  test("the documents speak of each other", () => {
    const { labels } = deployment.spec.template.metadata;
    expect(labels).toEqual({
      "app.kubernetes.io/name": "test-server",
      "app.kubernetes.io/component": "mcp-server",
    });
    expect(deployment.spec.selector.matchLabels).toEqual(labels);
    expect(service.spec.selector).toEqual(labels);
    expect(budget.spec.selector.matchLabels).toEqual(labels);
    for (const { metadata } of [deployment, service, autoscaler, budget, ingress]) {
      expect(metadata).toMatchObject({ name: "test-server", labels });
    }
    expect(service.spec.ports[0].targetPort).toBe(container.ports[0].name);
    expect(autoscaler.spec.scaleTargetRef).toEqual({
      apiVersion: "apps/v1",
      kind: "Deployment",
      name: deployment.metadata.name,
    });
    expect(autoscaler.spec.minReplicas).toBe(deployment.spec.replicas);
    expect(ingress.spec.rules[0].http.paths[0].backend.service).toEqual({
      name: service.metadata.name,
      port: { name: service.spec.ports[0].name },
    });
    const [, limit] = /MCP_BODY_LIMIT: .*\.default\(([\d_]+)\)/.exec(read("src/config.ts")) ?? [];
    expect(ingress.metadata.annotations).toEqual({
      "nginx.org/proxy-buffering": "False",
      "nginx.org/proxy-read-timeout": "1h",
      "nginx.org/client-max-body-size": limit?.replaceAll("_", ""),
    });
  });
});

test.each([
  ["@acme/files", "files"],
  ["2fast", "mcp-2fast"],
  ["a.b_c", "a-b-c"],
  [`${"ab-".repeat(40)}c`, "ab-".repeat(21).slice(0, -1)],
])("%s is %s, which may be a Service's name", (name, expected) => {
  const files = planProject({ ...plainAnswers, name, transport: "http", docker: true, deploy: "kubernetes" });
  const server = files.find(({ path }) => path === "kubernetes/server.yaml")?.content ?? "";
  for (const { metadata } of documentsIn(server)) expect(metadata.name).toBe(expected);
  expect(expected).toMatch(/^[a-z]([a-z0-9-]{0,61}[a-z0-9])?$/);
});
