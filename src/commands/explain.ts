/** @module Explains the keys and fields of the manifest from its schema and the field table. */
import { builtInProfiles, loadProfile } from "../hosting/profile/load-profile.ts";
import { kinds } from "../kinds/index.ts";
import { nearest } from "../manifest/problems/fault.ts";
import { type ManifestKey, manifestKeys } from "../manifest/schema/document-shape.ts";
import { exitCodes, GraphformError } from "../model/errors.ts";
import { type FieldSchema, fieldRows, parameterOf } from "../model/field-schema.ts";
import type { Json, JsonObject } from "../model/json.ts";
import type { Profile } from "../model/service.ts";
import { escapeText, jsonText, makePalette, type Palette } from "../report/typeset.ts";
import { tableText } from "./terminal/table-text.ts";
import type { Invocation, ManifestOptions } from "./with-run.ts";

type Options = Pick<ManifestOptions, "json" | "profile">;

interface Field {
  readonly kind: string;
  readonly path: string;
  readonly row: FieldSchema;
}

/** `explain KEY`: prints the facts about a key or field; without one, lists all. Throws `field-unknown`. */
export async function explain({ options, terminal }: Invocation<Options>, wanted?: string): Promise<number> {
  const palette = makePalette(terminal.colour);
  const fields = allFields();
  const keys = manifestKeys(kinds.all);
  if (wanted === undefined) {
    const rows = [
      ...keys.map(({ path, shape }) => [path, shape.description ?? ""]),
      ...fields.map(({ kind, path, row }) => [`${kind}.${path}`, row.description ?? ""]),
    ];
    if (options.json === true) terminal.out(`${jsonText(rows.map(([path = ""]) => path))}\n`);
    else terminal.out(tableText(["field", "description"], rows, terminal));
    return exitCodes.done;
  }
  // Drift names a field behind the address of its resource.
  const asked = [wanted, wanted.replace(/^(\w+)\.[^.[]+(\[.*\])?\./, "$1.")].map((name) =>
    name.toLowerCase(),
  );
  const [found = []] = asked
    .map((text) => fields.filter((field) => namesOf(field).some((name) => name.toLowerCase() === text)))
    .filter((named) => named.length > 0);
  const key = keys.find(({ path }) => isMeant(path, wanted));
  if (found.length === 0 && key === undefined) {
    const near = nearest(wanted, explainable());
    throw new GraphformError("field-unknown", `there is no field "${wanted}"`, {
      hint: near === undefined ? "graphform explain lists them" : `did you mean ${near}?`,
    });
  }
  const names = new Set([...builtInProfiles, ...(options.profile === undefined ? [] : [options.profile])]);
  const profiles = await Promise.all([...names].map(loadProfile));
  const explained = [
    ...(key === undefined ? [] : [factsOfKey(key, keys)]),
    ...found.map((field) => factsOf(field, profiles)),
  ];
  if (options.json === true)
    terminal.out(`${jsonText(explained.map((facts) => Object.fromEntries(facts)))}\n`);
  else terminal.out(explained.map((facts) => factsText(facts, palette)).join("\n"));
  return exitCodes.done;
}

export function explainable(): readonly string[] {
  const fields = allFields();
  const names = [
    ...manifestKeys(kinds.all).map(({ path }) => path),
    ...fields.flatMap((field) => [`${field.kind}.${field.path}`, field.path, ...namesOf(field).slice(-1)]),
  ];
  return [...new Set(names)].toSorted();
}

function allFields(): readonly Field[] {
  return kinds.all.flatMap(({ name: kind, schema }) =>
    [...fieldRows(schema)].map(([path, row]) => ({ kind, path, row })),
  );
}

/** The names by which a field can be asked for, the shortest last. */
function namesOf({ kind, path, row }: Field): readonly string[] {
  const own = path.slice(path.lastIndexOf(".") + 1);
  return [
    `${kind}.${path}`,
    path,
    `${kind}.${own}`,
    ...(row["x-wire"] === undefined ? [] : [row["x-wire"]]),
    own,
  ];
}

/** True if a person means this key: with or without the name of the entry, or of the resource that it stands in. */
function isMeant(path: string, wanted: string): boolean {
  const asked = wanted.toLowerCase().split(".");
  const whole = path.toLowerCase().split(".");
  const short = whole.filter((part) => part !== "*");
  const spellings =
    asked[0] !== undefined && sections.has(asked[0]) ? [1, 2].map((from) => asked.slice(from)) : [];
  return [asked, ...spellings].some((parts) => isSpelled(whole, parts) || isSpelled(short, parts));
}

function isSpelled(key: readonly string[], parts: readonly string[]): boolean {
  return key.length === parts.length && key.every((part, index) => part === "*" || part === parts[index]);
}

const sections = new Set(kinds.all.map(({ name }) => name.toLowerCase()));

function factsOfKey({ path, shape }: ManifestKey, keys: readonly ManifestKey[]): Facts {
  const inner = keys.filter((other) => other.path.replaceAll(".*", "").startsWith(`${path}.`));
  const facts: readonly (readonly [string, Json | undefined])[] = [
    ["key", path],
    ["description", shape.description],
    ["type", [shape.type ?? "any"].flat().join(" or ")],
    ["allowed", shape.enum],
    ["bounds", boundsOf(shape)],
    ["pattern", shape.pattern],
    ["default", shape.default],
    ["examples", shape.examples],
    ["keys", inner.length === 0 ? undefined : inner.map((other) => other.path)],
  ];
  return facts.flatMap(([name, value]) => (value === undefined ? [] : [[name, value] as const]));
}

function factsOf(field: Field, profiles: readonly Profile[]): Facts {
  const { kind, path, row } = field;
  const own = row["x-wire"] ?? path.slice(path.lastIndexOf(".") + 1);
  const wire: JsonObject = Object.fromEntries(
    profiles.map((profile) => [profile.name, profile.fields[own] ?? own]),
  );
  return [
    ["field", `${kind}.${path}`],
    ...fieldFacts(row),
    ["wire", row["x-place"] === true ? "part of the path" : wire],
  ];
}

function factsText(facts: Facts, palette: Palette): string {
  const width = Math.max(...facts.map(([name]) => name.length));
  return facts.map(([name, value]) => `${palette.bold(name.padEnd(width))}  ${wordsOf(value)}\n`).join("");
}

function wordsOf(value: Json): string {
  if (Array.isArray(value)) return value.map((item: Json) => escapeText(String(item), 200)).join(", ");
  if (typeof value !== "object" || value === null) return escapeText(String(value), 400);
  return Object.entries(value)
    .map(([name, inner]) => `${escapeText(String(inner), 200)} (${escapeText(name, 100)})`)
    .join(", ");
}

/** Facts as names and values, in the order in which they are shown. */
type Facts = readonly (readonly [string, Json])[];

/** Every fact about a field that no profile changes. */
export function fieldFacts(row: FieldSchema): Facts {
  const facts: readonly (readonly [string, Json | undefined])[] = [
    ["description", row.description],
    ["type", [row.type ?? "any"].flat().join(" or ")],
    ["allowed", row.enum],
    ["bounds", boundsOf(row)],
    ["pattern", row.pattern],
    ["default", row.default],
    ["tiers", row["x-tiers"] ?? "all"],
    ["components", row["x-components"]],
    ["change", changeOf(row)],
    ["disruption", row["x-create-only"] === true ? "data-loss" : (row["x-disruption"] ?? "none")],
    ["secret", row["x-secret"]],
    ["names", row["x-reference"] === undefined ? undefined : `a name under ${row["x-reference"].section}`],
    ["parameter", parameterOf(row)],
  ];
  return facts.flatMap(([name, value]) => (value === undefined ? [] : [[name, value] as const]));
}

/** Bounds of a number or of the length of a text, in words. */
function boundsOf({ minimum, maximum, minLength, maxLength }: FieldSchema): string | undefined {
  if (minimum !== undefined || maximum !== undefined) return `${minimum ?? "any"} to ${maximum ?? "any"}`;
  if (maxLength !== undefined) return `${minLength ?? 0} to ${maxLength} characters`;
  return minLength === undefined
    ? undefined
    : `at least ${minLength} ${minLength === 1 ? "character" : "characters"}`;
}

function changeOf(row: FieldSchema): string {
  if (row["x-create-only"] === true) return "fixed at creation: a change needs a new object";
  const operations = row["x-operations"];
  return operations === undefined
    ? "in place"
    : `by operations: ${[...new Set(Object.values(operations))].join(", ")}`;
}
