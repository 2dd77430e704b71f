// biome-ignore lint/suspicious/noDeprecatedImports: its successor is exported by packages that are not ours to name.
import { parseAst } from "vitest/node";

/** A regular expression as the source has it. */
export interface SourceExpression {
  readonly path: string;
  readonly source: string;
  readonly flags: string;
  /** False where it is put together from something else than a constant; `source` is then the code that does. */
  readonly isConstant: boolean;
}

/** Every regular expression of a file: literals, and what `RegExp` is called with. */
export function expressionsOf(path: string, text: string): readonly SourceExpression[] {
  const found: SourceExpression[] = [];
  const visit = (node: unknown): void => {
    if (typeof node !== "object" || node === null) return;
    if (Array.isArray(node)) {
      for (const each of node) visit(each);
      return;
    }
    const fields = new Map(Object.entries(node));
    const regex = fieldsOf(fields.get("regex"));
    if (fields.get("type") === "Literal" && regex.size > 0) {
      const [source, flags] = [String(regex.get("pattern")), String(regex.get("flags"))];
      found.push({ path, source, flags, isConstant: true });
    }
    if (fieldsOf(fields.get("callee")).get("name") === "RegExp")
      found.push({ path, ...called(fields.get("arguments"), text) });
    for (const value of fields.values()) visit(value);
  };
  visit(parseAst(text, { lang: path.endsWith(".ts") ? "ts" : "js" }));
  return found;
}

function called(args: unknown, text: string): Omit<SourceExpression, "path"> {
  const [pattern, flags] = Array.isArray(args) ? args.map(fieldsOf) : [];
  const value = pattern?.get("value");
  const code = text.slice(Number(pattern?.get("start") ?? 0), Number(pattern?.get("end") ?? 0));
  return {
    source: typeof value === "string" ? value : code,
    flags: String(flags?.get("value") ?? ""),
    isConstant: typeof value === "string",
  };
}

function fieldsOf(node: unknown): ReadonlyMap<string, unknown> {
  return new Map(typeof node === "object" && node !== null ? Object.entries(node) : []);
}
