import { readFileSync } from "node:fs";
import type { Plugin } from "esbuild";

/**
 * Bundles yaml for speed. It gets an environment of its own, an empty one: it asks the real one for a debugging switch at each of its
 * tokens, which is a tenth of the time that it takes. Its lexer and parser hand their tokens on by calls: as published they are
 * generators that delegate to generators, for each token anew, which is half of the rest. Nodes get their type from their prototype, and
 * a plain word is tried by its first character before it is tried as a number in seven ways.
 */
export const quietYaml: Plugin = {
  name: "quiet yaml",
  setup({ onLoad, onResolve }) {
    const contents = "exports.env = {}; exports.emitWarning = (warning) => process.emitWarning(warning);";
    onResolve({ filter: /^process$/ }, ({ importer }) =>
      /[\\/]yaml[\\/]dist[\\/]/.test(importer) ? { path: "process", namespace: "quiet" } : undefined,
    );
    onLoad({ filter: /./, namespace: "quiet" }, () => ({ contents }));
    onLoad({ filter: /[\\/]yaml[\\/]dist[\\/]parse[\\/](lexer|parser)\.js$/ }, ({ path }) => ({
      contents: withoutGenerators(readFileSync(path, "utf8")),
    }));
    for (const [name, edits] of Object.entries(edited))
      onLoad({ filter: new RegExp(`[\\\\/]yaml[\\\\/]dist[\\\\/]${name}\\.js$`) }, ({ path }) => ({
        contents: edits.reduce(replaced, readFileSync(path, "utf8")),
      }));
  },
};

type Edit = readonly [from: string, to: string];

/** A type as a property of each node is a call into the engine for each of them. */
function typed(name: string): Edit {
  const type = `Object.defineProperty(${name}.prototype, identity.NODE_TYPE, { value: identity.${name.toUpperCase()} });`;
  return [`exports.${name} = ${name};`, `${type}\nexports.${name} = ${name};`];
}

const ofNode = "Object.defineProperty(this, identity.NODE_TYPE, { value: type });";
const ofPair = "Object.defineProperty(this, identity.NODE_TYPE, { value: identity.PAIR });";
const byTest = "function findScalarTagByTest({ atKey, directives, schema }, value, token, onError) {";

/** Edits of the published files, by their paths. */
const edited: { readonly [path: string]: readonly Edit[] } = {
  "nodes/Node": [[ofNode, `if (this[identity.NODE_TYPE] !== type) ${ofNode}`]],
  "nodes/Scalar": [typed("Scalar")],
  "nodes/Pair": [[ofPair, ""], typed("Pair")],
  "compose/compose-scalar": [
    [
      byTest,
      `${byTest}\n if (schema.name === "core" && !schema.compat && /^[^-+.~0-9nNtTfF]/.test(value)) return schema[identity.SCALAR];`,
    ],
  ],
};

function replaced(source: string, [from, to]: Edit): string {
  const [head, tail, ...more] = source.split(from);
  if (tail === undefined || more.length > 0)
    throw new Error(`yaml is written in another way than scripts/quiet-yaml.ts knows: ${from}`);
  return head + to + tail;
}

/** The source of the lexer or of the parser with calls in place of generators. Throws if it is not the one that this was written for. */
export function withoutGenerators(source: string): string {
  const calls = source
    .replace("*lex(source, incomplete = false) {", "lex(source, incomplete = false) {")
    .replace(
      /\*parse\(source, incomplete = false\) \{([\s\S]*?)for \(const lexeme of this\.lexer\.lex\(source, incomplete\)\)\s+yield\* this\.next\(lexeme\);\s+if \(!incomplete\)\s+yield\* this\.end\(\);\s+\}/,
      "parse(source, incomplete = false) {$1const tokens = []; this.emit = (token) => tokens.push(token);\n this.lexer.emit = (lexeme) => this.next(lexeme); this.lexer.lex(source, incomplete);\n if (!incomplete) this.end();\n return tokens; }",
    )
    .replace(/^ {4}\*(\w+)\(/gm, "    $1(")
    .replace(/\byield\* (?=this\.)/g, "")
    .replace(/\byield ([^;]+);/g, "this.emit($1);");
  const left = calls.replace(/\/\*\*[\s\S]*?\*\//g, "");
  if (/\byield\b|^ {4}\*/m.test(left))
    throw new Error("yaml has other generators than scripts/quiet-yaml.ts knows");
  return calls;
}
