/** @module Formats the state and its outputs as text and as JSON. */
import { defined, isObject, type Json, type JsonObject, mapped } from "../model/json.ts";
import type { Bound } from "../model/state.ts";
import { type RedactedOutputs, type RedactedState, type RedactedValue, redactValue } from "./redact.ts";
import { escapeText, type Page, type Palette, padTo, textWidth, wrapIndented } from "./typeset.ts";
import { amount, type KindNames, typeOf } from "./words.ts";

/** Every address with its id and its last applied values, operations in progress, unconfirmed creates, and outputs. Ends with a line break. */
export function stateText(state: RedactedState, page: Page): string {
  const { palette } = page;
  const bound = sorted(state.resources);
  const pending = sorted(state.pending);
  const outputs = outputRows(state.outputs, palette);
  const summary = `${amount(bound.length, "resource")}, serial ${state.serial}, saved ${escapeText(state.savedAt, 100)}`;
  const { service, manifest: { environment, paths = [] } = {} } = state;
  const declarer = [...(environment === undefined ? [] : [`environment ${environment}`]), ...paths];
  const { platform, subscription } = service ?? {};
  const owner = [
    ...(platform === undefined ? [] : [escapeText(platform, 200)]),
    ...(subscription === undefined ? [] : [`subscription ${escapeText(subscription, 100)}`]),
  ];
  const blocks = [
    [
      `${palette.bold(`State of ${escapeText(state.name, 100)}`)} ${palette.dim(`· ${summary}`)}`,
      ...(owner.length === 0 ? [] : wrapIndented("  service    ", owner.join(", "), page.width)),
      ...(declarer.length === 0
        ? []
        : wrapIndented("  manifest   ", escapeText(declarer.join(", "), 300), page.width)),
    ],
    ...bound.map(([address, entry]) => boundLines(address, entry, page)),
    ...pending.map(([address, create]) => pendingLines(address, create, page)),
    outputs.length === 0 ? [] : [palette.bold("Outputs"), ...outputs.map((output) => `  ${output}`)],
  ];
  const written = blocks.filter((block) => block.length > 0).map((block) => block.join("\n"));
  return `${written.join("\n\n")}\n`;
}

function boundLines(address: string, bound: Bound<RedactedValue>, page: Page): readonly string[] {
  const { palette, width } = page;
  const { converging } = bound;
  const facts: readonly (readonly [string, string])[] = [
    [
      "place",
      Object.entries(bound.place)
        .map(([path, value]) => `${escapeText(path, 200)} ${redactValue(value, false).text}`)
        .join(", "),
    ],
    ["created", escapeText(bound.createdAt, 100)],
    ["on delete", bound.protect ? `${bound.onDelete}, protected` : bound.onDelete],
    ["refers to", bound.refs.map((ref) => escapeText(ref, 300)).join(", ")],
  ];
  const waiting =
    converging === undefined
      ? ""
      : `${converging.operation} since ${converging.since}; the next apply continues to wait`;
  return [
    `${palette.bold(escapeText(address, 300))} ${palette.dim(`(${escapeText(bound.id, 100)})`)}`,
    ...facts
      .filter(([, text]) => text !== "")
      .flatMap(([name, text]) => wrapIndented(`  ${name.padEnd(10)} `, text, width)),
    ...(waiting === ""
      ? []
      : wrapIndented("  … ", `still converging: ${escapeText(waiting)}`, width).map(palette.yellow)),
    ...recordedLines(bound, page),
  ];
}

function recordedLines({ recorded }: Bound<RedactedValue>, { palette }: Page): readonly string[] {
  const rows = sorted(recorded).map(([path, { text }]) => [escapeText(path, 200), text] as const);
  const width = Math.max(0, ...rows.map(([path]) => textWidth(path)));
  const head = rows.length === 0 ? [] : [`  ${palette.dim("last applied")}`];
  return [...head, ...rows.map(([path, value]) => `    ${padTo(path, width)}  ${value}`)];
}

function pendingLines(
  address: string,
  { startedAt }: RedactedState["pending"][string],
  { palette, width }: Page,
): readonly string[] {
  const text = `create started ${startedAt}, answer unknown; the next run looks for the object before it plans`;
  return [
    `${palette.bold(escapeText(address, 300))} ${palette.yellow("(create not confirmed)")}`,
    ...wrapIndented("  … ", escapeText(text), width).map(palette.yellow),
  ];
}

function sorted<T>(values: { readonly [name: string]: T }): readonly (readonly [string, T])[] {
  return Object.entries(values).sort(([a], [b]) => (a < b ? -1 : 1));
}

/** The document of `show --json`. A state that was never written has neither lineage nor time. */
export function stateJson(state: RedactedState, names: KindNames): JsonObject {
  const resources = Object.entries(state.resources).map((entry) => boundJson(...entry, names));
  const pending = Object.entries(state.pending).map(([address, create]) => ({ address, ...create }));
  const { name, lineage, serial, savedAt, service, manifest } = state;
  const isWritten = serial > 0;
  return {
    name,
    lineage: isWritten ? lineage : null,
    serial,
    savedAt: isWritten ? savedAt : null,
    ...(service === undefined ? {} : { service: { ...service } }),
    ...(manifest === undefined ? {} : { manifest: { ...manifest } }),
    resources,
    pending,
    outputs: outputsJson(state.outputs),
  };
}

function boundJson(address: string, bound: Bound<RedactedValue>, names: KindNames): JsonObject {
  const { kind, id, place, recorded, protect, onDelete, refs, createdAt, converging } = bound;
  const values = Object.entries(recorded).map(([path, { json = null }]) => [path, json] as const);
  return {
    ...{ address, type: typeOf(kind, names), id, place, values: Object.fromEntries(values) },
    ...{ protect, onDelete, refs, createdAt },
    ...defined({ converging: converging?.operation }),
  };
}

/** Outputs in the shape of `terraform output -json`; a sensitive value is `"(sensitive)"` of type string, and left out of a stream. */
export function outputsJson(outputs: RedactedOutputs, isStream = false): JsonObject {
  return mapped(outputs, ({ sensitive, value: { json = null } }): Json => {
    const typed = { sensitive, type: typeName(json) };
    return isStream && sensitive ? typed : { ...typed, value: json };
  });
}

/** The type of a value in Terraform's JSON notation. */
function typeName(value: Json): Json {
  if (value === null) return "dynamic";
  if (Array.isArray(value)) return ["tuple", value.map(typeName)];
  if (isObject(value)) return ["object", mapped(value, typeName)];
  return typeof value === "boolean" ? "bool" : typeof value;
}

/** All outputs, one per line, sorted by name. Ends with a line break. */
export function outputsText(outputs: RedactedOutputs, palette: Palette): string {
  const rows = outputRows(outputs, palette);
  return rows.length === 0 ? "No outputs are recorded.\n" : `${rows.join("\n")}\n`;
}

/** One line per output, sorted by name, values aligned. */
export function outputRows(outputs: RedactedOutputs, { dim }: Palette): readonly string[] {
  const entries = sorted(outputs);
  const names = entries.map(([name]) => escapeText(name, 200));
  const width = Math.max(0, ...names.map(textWidth));
  return entries.map(([, output], at) => `${padTo(names[at] ?? "", width)} ${dim("=")} ${output.value.text}`);
}
