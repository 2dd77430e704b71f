import { posix } from "node:path";

/** A source file: its path from the root of the repository, with `/`, and its text. */
export interface SourceFile {
  readonly path: string;
  readonly text: string;
}

/** One import. `to` is a path of the repository, a package's name, or a `node:` module. */
export interface Edge {
  readonly from: string;
  readonly to: string;
  readonly is: "file" | "package" | "node";
  readonly line: number;
}

const patterns = [
  /** `import x from "y"`, `import type ...`, `export ... from "y"`: over several lines, never past a semicolon. */
  /^[ \t]*(?:import|export)\b[^;"']*?\bfrom\s*["']([^"']+)["']/gm,
  /** `import "y"` */
  /^[ \t]*import\s*["']([^"']+)["']/gm,
  /** `import("y")`, as a value or as a type, and what else loads by name. */
  /\b(?:import|require|getBuiltinModule)\s*\(\s*["'`]([^"'`]+)["'`]/g,
];

/** Every import of a file, type imports too. Comments are no imports. */
export function importsOf({ path, text }: SourceFile): readonly Edge[] {
  const code = text.replace(/\/\*[\s\S]*?\*\//g, blank).replace(/^[ \t]*\/\/.*$/gm, blank);
  return patterns.flatMap((pattern) =>
    [...code.matchAll(pattern)].map((match): Edge => {
      const specifier = match[1] ?? "";
      const line = code.slice(0, match.index + match[0].length).split("\n").length;
      return { from: path, line, ...target(path, specifier) };
    }),
  );
}

function target(path: string, specifier: string): Pick<Edge, "to" | "is"> {
  if (specifier.startsWith("node:")) return { is: "node", to: specifier };
  if (specifier.startsWith(".")) return { is: "file", to: posix.join(posix.dirname(path), specifier) };
  const [scope = "", name = ""] = specifier.split("/");
  return { is: "package", to: scope.startsWith("@") ? `${scope}/${name}` : scope };
}

/** Keeps the lines, so that positions stay right. */
function blank(text: string): string {
  return text.replace(/[^\n]/g, " ");
}
