import type { Json, JsonObject } from "../../model/json.ts";
import { isObject } from "../../model/json.ts";
import type { LeftOut } from "../../model/kind.ts";
import type { ServiceSection } from "../../model/manifest.ts";
import { escapeJson, escapeText } from "../../report/escape.ts";
import type { Imported } from "./declare-objects.ts";

/** What a written manifest says besides its resources. */
export interface ManifestFrame {
  readonly name: string;
  /** What was not looked at, and why. */
  readonly missed: readonly LeftOut[];
  /** Absent where the local platform is meant. */
  readonly service?: ServiceSection;
  /** Addresses that stand as comments, and why. */
  readonly leftOut: ReadonlyMap<string, string>;
}

/** Address of an imported object. */
export function addressOf({ kind, name }: Imported): string {
  return `${kind.name}.${name}`;
}

/** A manifest of live objects as YAML; what cannot be declared stands there as a comment with its reason. */
export function importedText(objects: readonly Imported[], frame: ManifestFrame): string {
  const sections = [...new Set(objects.map((object) => object.kind.name))];
  const imports = objects.filter((object) => object.spec["id"] !== object.id);
  const isNone = imports.every((object) => frame.leftOut.has(addressOf(object)));
  return [
    "# yaml-language-server: $schema=./node_modules/graphform/schemas/manifest.schema.json",
    "# Written by graphform import --all from what was live. A field that is left out is not managed.",
    ...frame.missed.map(({ what, reason }) => `# Left out: ${comment(what)}: ${comment(reason)}`),
    "apiVersion: graphform/v1",
    `name: ${scalar(frame.name)}`,
    ...(frame.service === undefined ? [] : ["", "service:", ...mapLines(Object.entries(frame.service), 1)]),
    ...sections.flatMap((section) => ["", ...sectionLines(section, objects, frame)]),
    ...(imports.length === 0 ? [] : ["", isNone ? "# imports:" : "imports:"]),
    ...imports.map((object) => {
      const entry = `- { address: ${scalar(addressOf(object))}, id: ${scalar(object.id)} }`;
      return `  ${frame.leftOut.has(addressOf(object)) ? "# " : ""}${entry}`;
    }),
    "",
  ].join("\n");
}

function sectionLines(
  section: string,
  objects: readonly Imported[],
  { leftOut }: ManifestFrame,
): readonly string[] {
  const own = objects.filter((object) => object.kind.name === section);
  const isEmpty = own.every((object) => leftOut.has(addressOf(object)));
  const blocks = own.map((object) => {
    const reason = leftOut.get(addressOf(object));
    const lines = [
      `  ${scalar(object.name)}:`,
      ...object.notes.map((note) => `    # ${comment(note)}`),
      ...mapLines(Object.entries(object.spec), 2),
    ];
    if (reason === undefined) return lines;
    return [`  # left out, since ${comment(reason)}:`, ...lines.map((line) => `  # ${line.slice(2)}`)];
  });
  return [isEmpty ? `# ${section}:` : `${section}:`, ...blocks.flat()];
}

function mapLines(entries: readonly (readonly [string, Json])[], depth: number): readonly string[] {
  const indent = "  ".repeat(depth);
  return entries.flatMap(([key, value]) => {
    if (isObject(value)) return [`${indent}${scalar(key)}:`, ...mapLines(Object.entries(value), depth + 1)];
    return [`${indent}${scalar(key)}: ${Array.isArray(value) ? JSON.stringify(value) : scalar(value)}`];
  });
}

/** A value as YAML reads it back: bare where that is safe, otherwise as JSON writes it; `${` is no expression here. */
function scalar(value: Json): string {
  if (typeof value !== "string") return JSON.stringify(value);
  const text = value.replaceAll("${", () => "$${");
  const isPlain =
    /^[A-Za-z][A-Za-z0-9._/-]*$/.test(text) && !/^(true|false|null|yes|no|on|off|y|n)$/i.test(text);
  return isPlain ? text : escapeJson(JSON.stringify(text));
}

function comment(text: string): string {
  return escapeText(text, 400);
}

/** The service section of a manifest, without what is undefined. */
export function serviceSection(
  parts: { readonly [key in keyof ServiceSection]: ServiceSection[key] | undefined },
): ServiceSection | undefined {
  const given: JsonObject = Object.fromEntries(
    Object.entries(parts).flatMap(([key, value]): [string, Json][] =>
      value === undefined ? [] : [[key, value]],
    ),
  );
  return Object.keys(given).length === 0 ? undefined : given;
}
