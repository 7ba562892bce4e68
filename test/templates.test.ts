import path from "node:path";
import { templates } from "virtual:templates";
import fs from "fs-extra";
import Handlebars from "handlebars";
import { expect, test } from "vitest";
import { compileTemplate } from "../build/template-compiler.ts";
import { known } from "../src/plan/known.ts";
import { json, md } from "../src/plan/literals.ts";
import { describeProject } from "../src/plan/project.ts";
import { combinations } from "./support/combinations.ts";

const folder = path.join(import.meta.dirname, "..", "templates");
const helpers = { json, md, eq: (a: unknown, b: unknown) => a === b };
const handlebars = Handlebars.create();
handlebars.registerHelper(helpers);
for (const name of fs.readdirSync(path.join(folder, "partials"))) {
  const text = fs.readFileSync(path.join(folder, "partials", name), "utf8");
  handlebars.registerPartial(path.basename(name, ".hbs"), byHandlebars(text));
}

/** As Handlebars understands it: without `noEscape` it makes HTML entities, without `strict` it ignores misspelt keys. */
function byHandlebars(text: string) {
  return handlebars.compile(text, { noEscape: true, strict: true });
}

const shared = "[{{name}}{{#each list}}{{../name}}{{this}}{{/each}}]\n";
handlebars.registerPartial("shared", byHandlebars(shared));
const partials = { shared: (context: object) => byCompiler(shared)(context) };

/** As the build understands it. */
function byCompiler(text: string): (context: object) => string {
  const source = `return ${compileTemplate(text)}`;
  return new Function("known", "json", "md", "partials", source)(known, json, md, partials);
}

const compiled = Object.entries(templates).flatMap(([name, template]) =>
  typeof template === "string" ? [] : [{ name, template }],
);

test.each(compiled)("$name says what Handlebars makes of it, in every combination", ({ name, template }) => {
  const reference = byHandlebars(fs.readFileSync(path.join(folder, name), "utf8"));
  for (const answers of combinations) {
    const project = describeProject({ ...answers, description: 'O\'Neil & "Co" <b>\\d</b> {{x}} `y`' });
    const contexts = name.startsWith("stub/")
      ? project.stubs.map((tool) => ({ ...project, tool }))
      : [project];
    for (const context of contexts) expect(template(context)).toBe(reference(context));
  }
});

test.each([
  ["a value", "a {{name}} b"],
  ["a nested value", "{{deep.er}}"],
  ["helpers", "{{json quoted}} {{md quoted}}"],
  ["either", '{{#if (eq name "n")}}yes{{else}}no{{/if}}{{#unless yes}}yes{{else}}no{{/unless}}'],
  ["a chain", '{{#if no}}1{{else if (eq name "x")}}2{{else}}3{{/if}}'],
  ["lines of their own", "a\n  {{#if yes}}\n  b\n  {{/if}}\nc\n{{! said to nobody }}\nd\n"],
  ["a trimmed line", "a  {{~#if yes~}}  b  {{~/if~}}  c"],
  ["lists", "{{#each list}}{{#unless @first}}, {{/unless}}{{this}}{{../name}}{{/each}}"],
  ["lists in lists", "{{#each lists}}{{#each this}}{{this}}{{@first}}{{/each}};{{/each}}"],
  ["a partial", "a\n{{> shared}}\nb {{> shared}} c {{#if yes}}{{> shared}}{{/if}}"],
  ["escaped and tripled braces", "\\{{name}} {{{name}}}"],
])("%s: the compiler means what Handlebars means", (_, text) => {
  const context = {
    name: "n",
    quoted: 'q"\\*',
    deep: { er: "d" },
    yes: true,
    no: false,
    list: ["a", "b"],
    lists: [["a", "b"], ["c"]],
  };
  expect(byCompiler(text)(context)).toBe(byHandlebars(text)(context));
});

test("a misspelt key fails and is named", () => {
  expect(() => byCompiler("{{nmae}}")({ name: "n" })).toThrow('"nmae"');
  expect(() => byCompiler("{{> shraed}}")({ name: "n" })).toThrow('"shraed"');
  expect(() => byCompiler("{{#if htpp}}x{{/if}}")({ http: true })).toThrow('"htpp"');
});

test.each([
  ["a helper that does not exist", "\n{{yaml name}}", "line 2"],
  ["a block that does not exist", "{{#with a}}x{{/with}}", "line 1"],
  ["a partial with a context of its own", "\n\n{{> other deep}}", "line 3"],
  ["an indented partial", "{{#if a}}\n  {{> other}}\n{{/if}}", "line 2"],
  ["a comparison of more", '{{#if (eq a b "c")}}x{{/if}}', "line 1"],
  ["an outer context where there is none", "{{../name}}", "line 1"],
  ["an unknown data variable", "{{#each list}}{{@key}}{{/each}}", "line 1"],
])("%s stops the build with its line", (_, text, line) => {
  expect(() => compileTemplate(text)).toThrow(line);
});
