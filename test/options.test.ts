import { describe, expect, test } from "vitest";
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
