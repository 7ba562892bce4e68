import { describe, expect, test } from "vitest";
import { firstProblem, withDefaults } from "../src/options/answers.ts";
import { toolFileName, toolIdentifier, toolNamesProblem, toolTitle } from "../src/options/tool-names.ts";

describe("tool names", () => {
  test.each([
    ["list_repos", "list-repos", "listReposTool", "List repos"],
    ["close-issue", "close-issue", "closeIssueTool", "Close issue"],
    ["2fast", "2fast", "_2fastTool", "2fast"],
    ["toString", "to-string", "toStringTool", "To string"],
    ["index", "index-tool", "indexTool", "Index"],
    ["con", "con-tool", "conTool", "Con"],
    ["__", "tool", "tool", "__"],
  ])("%s is %s.ts, %s and %j", (name, file, identifier, title) => {
    expect([toolFileName(name), toolIdentifier(name), toolTitle(name)]).toEqual([file, identifier, title]);
  });

  test("a sample's name is free where that sample is not there", () => {
    expect(toolNamesProblem(["batch_translate"], { samples: true, progress: true })).toMatch(/sample tool/);
    expect(toolNamesProblem(["batch_translate"], { samples: true, progress: false })).toBeUndefined();
    expect(toolNamesProblem(["reserve_seat"], { samples: false })).toBeUndefined();
  });
});

describe("a deployment", () => {
  const context = { invokedBy: "npm" };

  test("brings the image along, and nothing else does", () => {
    expect(withDefaults({ transport: "http", deploy: "nginx" }, context)).toMatchObject({
      docker: true,
      deploy: "nginx",
    });
    expect(withDefaults({ transport: "http", deploy: "none" }, context).docker).toBe(false);
    expect(withDefaults({ transport: "http" }, context)).toMatchObject({ docker: false, deploy: "none" });
    expect(withDefaults({ transport: "http", docker: true }, context).deploy).toBe("none");
  });

  test("needs an image and HTTP; to say that there is none is never wrong", () => {
    expect(firstProblem({ transport: "both", deploy: "kubernetes" }, context)).toBeUndefined();
    expect(firstProblem({ transport: "http", deploy: "nginx", docker: false }, context)).toMatch(/--docker/);
    expect(firstProblem({ transport: "stdio", deploy: "nginx" }, context)).toMatch(/--transport/);
    expect(firstProblem({ transport: "stdio", deploy: "none", auth: "none" }, context)).toBeUndefined();
    expect(firstProblem({ transport: "stdio", auth: "token" }, context)).toMatch(/--auth/);
  });
});
