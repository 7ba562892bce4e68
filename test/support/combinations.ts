import { type Answers, options } from "../../src/options/declaration.ts";
import { plainAnswers } from "./generated.ts";

/** The tool choices that differ: the samples, names of one's own, both, and neither. */
const toolChoices: Pick<Answers, "samples" | "tools">[] = [
  { samples: true, tools: [] },
  { samples: false, tools: ["list_repos", "close-issue"] },
  { samples: true, tools: ["list_repos", "close-issue"] },
  { samples: false, tools: [] },
];

const booleans = [false, true];

/** The ways to run it that go together: without an image there is nothing to deploy, and stdio is not deployed. */
const runs = (transport: Answers["transport"]): Pick<Answers, "docker" | "deploy">[] => [
  { docker: false, deploy: "none" },
  ...options.deploy.choices
    .filter(({ value }) => transport !== "stdio" || value === "none")
    .map(({ value }) => ({ docker: true, deploy: value })),
];

/** Every combination of answers that the wizard can arrive at, but for free text. */
export const combinations: Answers[] = options.transport.choices.flatMap(({ value: transport }) =>
  options.auth.choices
    .filter(({ value }) => transport !== "stdio" || value === "none")
    .flatMap(({ value: auth }) =>
      options.sdk.choices.flatMap(({ value: sdk }) =>
        toolChoices.flatMap((tools) =>
          runs(transport).flatMap((run) =>
            booleans.flatMap((progress) =>
              booleans.flatMap((ci) =>
                options.pm.choices.map(({ value: pm }) => ({
                  ...plainAnswers,
                  ...tools,
                  transport,
                  auth,
                  sdk,
                  ...run,
                  progress,
                  ci,
                  pm,
                })),
              ),
            ),
          ),
        ),
      ),
    ),
);

/** A combination as a person would say it: `both token samples+own docker progress npm`. */
export function describeCombination(answers: Answers): string {
  const tools = [answers.samples && "samples", answers.tools.length > 0 && "own"].filter(Boolean).join("+");
  return [
    answers.transport,
    answers.transport !== "stdio" && `auth=${answers.auth}`,
    answers.sdk,
    tools || "stub",
    answers.docker && "docker",
    answers.deploy !== "none" && answers.deploy,
    answers.progress && "progress",
    answers.ci && "ci",
    answers.pm,
  ]
    .filter(Boolean)
    .join(" ");
}
