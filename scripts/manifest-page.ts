import { readFileSync } from "node:fs";
import { join } from "node:path";
import { kinds } from "../src/kinds/index.ts";
import { type Shape, shapeAt } from "../src/manifest/schema/shape.ts";

/** Keys that every resource has; they stand on the page once. */
const shared = ["forEach", "lifecycle", "timeouts"];

/** The page `docs/manifest.md`: every key of the manifest; the tables are those of the schema. */
export function manifestPage(root: string): string {
  const schema: Shape = JSON.parse(readFileSync(join(root, "schemas", "manifest.schema.json"), "utf8"));
  const text = readFileSync(join(root, "scripts", "manifest-page.md"), "utf8");
  return text.replace(/^\{\{(keys|outputs) ?(.*)\}\}$/gm, (_, what: string, path: string) =>
    what === "keys" ? table(at(schema, path)) : outputs(),
  );
}

/** The shape at a path of names; `*` is any name, `[]` an element of a list. */
function at(schema: Shape, path: string): Shape {
  const steps = path === "" ? [] : path.split(".").map((name) => (name === "[]" ? 0 : name));
  const found = shapeAt(schema, steps);
  if (found === undefined) throw new Error(`the manifest's schema has no ${path}`);
  return found;
}

function table(given: Shape): string {
  const shape = [given, ...(given.anyOf ?? [])].find(({ properties }) => properties) ?? given;
  const rows = Object.entries(shape.properties ?? {})
    .filter(([name]) => !(name !== "forEach" && shared.includes(name) && shape.properties?.["forEach"]))
    .map(([name, field]) => row(name, field, shape.required?.includes(name) === true));
  return ["| Key | Value | Meaning |", "| --- | --- | --- |", ...rows].join("\n");
}

function row(name: string, field: Shape, required: boolean): string {
  const [main = field] = field.anyOf ?? [];
  const values =
    main.enum === undefined
      ? [main.type ?? "any"]
          .flat()
          .filter((type) => type !== "null")
          .join(" or ")
      : main.enum.map((value) => `\`${String(value)}\``).join(", ");
  const bounds =
    main.minimum === undefined
      ? ""
      : `, ${main.minimum}${main.maximum === undefined ? " or more" : ` to ${main.maximum}`}`;
  const standard = main.default ?? field.default;
  const example = main.examples?.[0];
  const notes = [
    ...(required ? ["required"] : []),
    ...(standard === undefined ? [] : [`default \`${String(standard)}\``]),
    ...(example === undefined
      ? []
      : [`for example \`${typeof example === "object" ? JSON.stringify(example) : String(example)}\``]),
  ];
  const cells = [
    `\`${name}\``,
    `${values}${bounds}`,
    // What editors show besides stands in docs/fields.md, in columns of its own.
    [(field.description ?? main.description ?? "").split("\n")[0] ?? "", ...notes]
      .filter((text) => text !== "")
      .join("; "),
  ];
  return `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`;
}

function outputs(): string {
  const rows = kinds.all.map(
    (kind) => `| \`${kind.name}\` | ${kind.outputs.map((name) => `\`${name}\``).join(", ")} |`,
  );
  return ["| Kind | Outputs |", "| --- | --- |", ...rows].join("\n");
}
