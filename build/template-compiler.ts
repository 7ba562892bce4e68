import Handlebars from "handlebars";

/** What a template may call besides the built-in blocks; `src/plan/literals.ts` has them. */
const literalHelpers = ["json", "md"];

/**
 * Compiles a template to the source of a JavaScript function from a context to text, which needs nothing at run time
 * but `known`, the helpers and, where it includes some, `partials`, compiled like itself: loading and starting Handlebars' own runtime would take a tenth of the command's time.
 * Handlebars parses, and the part of its language that the templates use means what it means there, in strict mode and
 * without HTML escaping; what is not understood stops the build.
 *
 * @throws Error that names the line of what cannot be compiled.
 */
export function compileTemplate(text: string): string {
  return `(c0) => ${program(Handlebars.parse(text), ["c0"])}`;
}

/** @param scopes the variables of the contexts, the innermost last. */
function program({ body }: hbs.AST.Program, scopes: readonly string[]): string {
  const parts = body.map((node) => statement(node, scopes)).filter((part) => part !== '""');
  return parts.length === 0 ? '""' : parts.join(" + ");
}

function statement(node: hbs.AST.Statement, scopes: readonly string[]): string {
  switch (node.type) {
    case "ContentStatement":
      return JSON.stringify((node as hbs.AST.ContentStatement).value);
    case "MustacheStatement":
      return mustache(node as hbs.AST.MustacheStatement, scopes);
    case "BlockStatement":
      return block(node as hbs.AST.BlockStatement, scopes);
    case "PartialStatement":
      return partial(node as hbs.AST.PartialStatement, scopes);
    case "CommentStatement":
      return '""';
    default:
      throw notUnderstood(node);
  }
}

function mustache(node: hbs.AST.MustacheStatement, scopes: readonly string[]): string {
  const [argument, ...more] = node.params;
  if (argument === undefined) return value(node.path, scopes);
  const helper = (node.path as hbs.AST.PathExpression).original;
  if (more.length > 0 || !literalHelpers.includes(helper)) throw notUnderstood(node);
  return `${helper}(${value(argument, scopes)})`;
}

function block(node: hbs.AST.BlockStatement, scopes: readonly string[]): string {
  const [subject, ...more] = node.params;
  if (subject === undefined || more.length > 0) throw notUnderstood(node);
  const inverse = node.inverse ? program(node.inverse, scopes) : '""';
  switch (node.path.original) {
    case "if":
      return `(${value(subject, scopes)} ? ${program(node.program, scopes)} : ${inverse})`;
    case "unless":
      return `(${value(subject, scopes)} ? ${inverse} : ${program(node.program, scopes)})`;
    case "each": {
      if (node.inverse) throw notUnderstood(node);
      const item = `c${scopes.length}`;
      const each = program(node.program, [...scopes, item]);
      return `${value(subject, scopes)}.map((${item}, index) => ${each}).join("")`;
    }
    default:
      throw notUnderstood(node);
  }
}

/** A part that several templates share, seen from where it is included. */
function partial(node: hbs.AST.PartialStatement, scopes: readonly string[]): string {
  if (node.params.length > 0 || node.hash || node.indent !== "") throw notUnderstood(node);
  const name = JSON.stringify((node.name as hbs.AST.PathExpression).original);
  return `known(partials[${name}], ${name})(${scopes.at(-1)})`;
}

function value(node: hbs.AST.Expression, scopes: readonly string[]): string {
  switch (node.type) {
    case "StringLiteral":
      return JSON.stringify((node as hbs.AST.StringLiteral).value);
    case "SubExpression":
      return equality(node as hbs.AST.SubExpression, scopes);
    case "PathExpression":
      return path(node as hbs.AST.PathExpression, scopes);
    default:
      throw notUnderstood(node);
  }
}

function equality(node: hbs.AST.SubExpression, scopes: readonly string[]): string {
  const [left, right, ...more] = node.params;
  const helper = (node.path as hbs.AST.PathExpression).original;
  if (helper !== "eq" || !left || !right || more.length > 0) throw notUnderstood(node);
  return `(${value(left, scopes)} === ${value(right, scopes)})`;
}

function path(node: hbs.AST.PathExpression, scopes: readonly string[]): string {
  if (node.data) {
    if (node.original !== "@first" || scopes.length === 1) throw notUnderstood(node);
    return "(index === 0)";
  }
  const scope = scopes.at(-1 - node.depth);
  if (scope === undefined) throw notUnderstood(node);
  if (node.parts.length === 0) return scope;
  const keys = node.parts.map((key) => `[${JSON.stringify(key)}]`);
  return `known(${scope}${keys.join("")}, ${JSON.stringify(node.original)})`;
}

function notUnderstood({ loc, type }: hbs.AST.Node): Error {
  return new Error(`line ${loc.start.line}: this ${type} is not something that templates here can use`);
}
