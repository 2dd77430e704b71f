import type { Case } from "./case.ts";

/** A case as a literal that can be pasted into the table of regressions. */
export function textOf(given: Case): string {
  return literal(given, 0);
}

function literal(value: unknown, depth: number): string {
  if (typeof value === "string") return JSON.stringify(value);
  if (typeof value !== "object" || value === null) return String(value);
  const isList = Array.isArray(value);
  const inner = isList
    ? value.map((each) => literal(each, depth + 1))
    : Object.entries(value).map(
        ([key, each]) =>
          `${/^[A-Za-z_]\w*$/.test(key) ? key : JSON.stringify(key)}: ${literal(each, depth + 1)}`,
      );
  const [open, close] = isList ? ["[", "]"] : ["{ ", " }"];
  const line = `${open}${inner.join(", ")}${close}`;
  if (inner.length === 0) return isList ? "[]" : "{}";
  if (line.length + 2 * depth <= 108) return line;
  const pad = "  ".repeat(depth + 1);
  return `${open.trim()}\n${inner.map((each) => `${pad}${each},\n`).join("")}${"  ".repeat(depth)}${close.trim()}`;
}
