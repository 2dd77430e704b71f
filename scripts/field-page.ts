import { instanceSchema } from "../src/fields/instance.ts";
import type { FieldSchema, KindSchema } from "../src/model/field-schema.ts";
import type { Json } from "../src/model/json.ts";
import { tiers } from "../src/model/service.ts";

const heads = [
  "Field",
  "Type",
  "Allowed",
  "Default",
  "A change",
  "Its data goes along",
  "Tiers",
  "On the wire",
  "Seen in the database",
];

/** The page `docs/fields.md`: the field table of instances, as people read it. */
export function fieldPage(): string {
  return `# The fields of an instance

Generated from \`src/fields/instance.ts\` by \`npm run emit\`; a test finds it stale. Settings under \`config\` are spelled as the
service spells them.

- **A change** says what a change of the field takes: \`in place\` (with what the running database feels), \`replace\` (fixed at
  creation: refused unless \`onReplace\` allows it), or the operation that is called.
- **Its data goes along** says how it reaches the new database of a replacement: by the copy of \`onReplace: migrate\`
  ([replacing-a-database.md](replacing-a-database.md)), or also by a snapshot that a person copies and restores.
- **Default** is the service's; a field that the manifest leaves out is not managed.
- **Seen in the database** is the parameter of \`GRAPH.CONFIG GET\` that shows the running value.

${table(instanceSchema)}
`;
}

function table(schema: KindSchema): string {
  const rows = Object.entries(schema.properties).flatMap(([name, field]) =>
    field.properties === undefined
      ? [row(name, field, schema)]
      : Object.entries(field.properties).map(([inner, each]) => row(`${name}.${inner}`, each, field)),
  );
  return [heads, heads.map(() => "---"), ...rows].map((cells) => `| ${cells.join(" | ")} |`).join("\n");
}

function row(path: string, field: FieldSchema, parent: FieldSchema): readonly string[] {
  const name = path.slice(path.lastIndexOf(".") + 1);
  const required = parent.required?.includes(name) ? ", required" : "";
  return [
    `\`${path}\`<br>${escaped(field.description ?? "")}`,
    `${String(field.type)}${field["x-secret"] ? ", secret" : ""}${required}`,
    allowed(field),
    field.default === undefined ? "" : code(field.default),
    change(field),
    carried(field),
    places(field),
    wire(name, field),
    shownBy(field),
  ];
}

/** The part of the running database that shows the value; it is set there too where it can be. */
function shownBy({ "x-probe": row }: FieldSchema): string {
  if (row === undefined) return "";
  if ("connection" in row) return row.connection === "login" ? "AUTH" : "TLS";
  return "info" in row ? `\`INFO ${row.info}\`` : `\`${row.parameter}\`${row.settable ? ", can be set" : ""}`;
}

function allowed(field: FieldSchema): string {
  if (field.enum !== undefined) return field.enum.map(code).join(", ");
  if (field.minimum !== undefined || field.maximum !== undefined)
    return `${field.minimum} to ${field.maximum}`;
  if (field["x-reference"] !== undefined) return `a name under \`${field["x-reference"].section}\``;
  if (field.examples !== undefined) return `for example ${field.examples.slice(0, 3).map(code).join(", ")}`;
  if (field.pattern !== undefined) return `\`${escaped(field.pattern)}\``;
  return "any";
}

function change(field: FieldSchema): string {
  if (field["x-create-only"]) return "replace";
  const verbs = Object.values(field["x-operations"] ?? {});
  const how = verbs.length > 0 ? verbs.join(", ") : "in place";
  const disruption = field["x-disruption"] ?? "none";
  return disruption === "none" ? how : `${how} (${disruption})`;
}

/** The ways by which the data reaches a new database, and the reason. */
function carried({ "x-carried": row }: FieldSchema): string {
  if (row === undefined) return "";
  return `${row.by.length === 0 ? "not at all" : `by ${row.by.join(" or ")}`}: ${row.reason}`;
}

function places(field: FieldSchema): string {
  const offered = field["x-tiers"];
  const components = field["x-components"] === undefined ? "" : `; ${field["x-components"].join(", ")}`;
  if (offered === undefined) return `all${components}`;
  return `${tiers.filter((tier) => offered.includes(tier)).join(", ")}${components}`;
}

/** Where the value travels: the top level of the body, requestParams, the path, or an operation of its own. */
function wire(name: string, field: FieldSchema): string {
  if (field["x-operations"] !== undefined) return "operations";
  if (field["x-place"]) return "path";
  const spelling = field["x-wire"] ?? name;
  return field["x-in"] === "body" || field["x-in"] === "metadata"
    ? `\`${spelling}\``
    : `\`requestParams.${spelling}\``;
}

function code(value: Json): string {
  return `\`${typeof value === "string" ? value : JSON.stringify(value)}\``;
}

function escaped(text: string): string {
  return text.replaceAll("|", "\\|");
}
