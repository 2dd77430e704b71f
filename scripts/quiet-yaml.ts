import { readFileSync } from "node:fs";
import type { Plugin } from "esbuild";

/**
 * Bundles yaml for speed. It gets an environment of its own, an empty one: it asks the real one for a debugging switch at each of its
 * tokens, which is a tenth of the time that it takes. And its lexer and parser hand their tokens on by calls: as published they are
 * generators that delegate to generators, for each token anew, which is half of the rest.
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
  },
};

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
