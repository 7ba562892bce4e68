import path from "node:path";
import { execa } from "execa";
import fs from "fs-extra";
import { Deployment } from "kubernetes-models/apps/v1";
import { HorizontalPodAutoscaler } from "kubernetes-models/autoscaling/v2";
import { Ingress } from "kubernetes-models/networking.k8s.io/v1";
import { PodDisruptionBudget } from "kubernetes-models/policy/v1";
import { Service } from "kubernetes-models/v1";
import { repository } from "../support/tarball.ts";

// biome-ignore lint/suspicious/noExplicitAny: a document is only known once it has been validated.
export type Document = any;

/** The kinds that are generated, with the API that has them. */
const kinds = {
  Deployment: { model: Deployment, module: "apps/v1" },
  Service: { model: Service, module: "v1" },
  HorizontalPodAutoscaler: { model: HorizontalPodAutoscaler, module: "autoscaling/v2" },
  PodDisruptionBudget: { model: PodDisruptionBudget, module: "policy/v1" },
  Ingress: { model: Ingress, module: "networking.k8s.io/v1" },
} as const;

/** What the API's JSON Schema has against a document, or nothing. */
export function schemaProblem(document: Document): string | undefined {
  const kind = kinds[document?.kind as keyof typeof kinds];
  if (!kind) return `no kind that is known here: ${document?.kind}`;
  try {
    new kind.model(document).validate();
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}

/**
 * The fields that the API does not know. Its schemas allow any, and a cluster drops them; the types that are made from
 * the schemas do not. Returns one entry for each document: what the compiler says, or nothing.
 */
export async function unknownFields(documents: readonly Document[]): Promise<(string | undefined)[]> {
  const lines = documents.map((document, index) => {
    const { module } = kinds[document.kind as keyof typeof kinds];
    const type = `import("kubernetes-models/${module}").I${document.kind}`;
    return `export const document${index}: ${type} = ${JSON.stringify(document)};`;
  });
  // Beside the packages, so that the compiler finds them.
  const file = path.join(repository, "node_modules", `.kubernetes-${process.pid}.ts`);
  await fs.outputFile(file, `${lines.join("\n")}\n`);
  try {
    const flags = ["--noEmit", "--strict", "--skipLibCheck", "--ignoreConfig", "--pretty", "false"];
    const { stdout } = await execa("npx", ["tsc", ...flags, "--module", "nodenext", file], {
      cwd: repository,
      reject: false,
    });
    const complaints = stdout.split("\n").map((text) => /\((\d+),\d+\): error (.*)/.exec(text));
    return documents.map((_, index) => complaints.find((match) => Number(match?.[1]) === index + 1)?.[2]);
  } finally {
    await fs.remove(file);
  }
}
