/** @module Parses the YAML files of a manifest, merges them, and explains the syntax errors of the parser. */
import { type ErrorCode, LineCounter, parseDocument, type YAMLError } from "yaml";
import { isObject, type JsonObject, merge } from "../model/json.ts";
import type { Finding } from "../model/kind.ts";
import { rangeOf } from "./locate.ts";
import { jsonMap, jsonNodes, type Plain, plainValue } from "./plain-value.ts";
import { errorAt, type Fault } from "./problems/fault.ts";
import type { Layer, Parsed, SourceFile, Written } from "./source.ts";

/** Reads YAML 1.2 (core schema); later files win. Collects findings; never throws. */
export function parseManifest(sources: readonly SourceFile[]): Parsed {
  const findings: Finding[] = [];
  const layers = sources.map((source) => parseLayer(source, findings));
  return { value: layOver(layers, findings), layers, findings };
}

function parseLayer({ path: file, text }: SourceFile, findings: Finding[]): Layer {
  const json = jsonMap(text);
  const first = json === undefined ? readYaml(text) : undefined;
  let known: Written | undefined = first;
  const written = (): Written => {
    known ??=
      json === undefined
        ? readYaml(text)
        : { lines: linesOf(text), root: jsonNodes(text), aliases: new Map() };
    return known;
  };
  const forget = (): void => {
    known = undefined;
  };
  const isJson = json !== undefined;
  const layer = { file, text, value: json ?? first?.value, isJson, written, forget };
  for (const [start, end, fault] of first?.faults ?? [])
    findings.push(errorAt(rangeOf({ layer, start, end }), fault));
  return layer;
}

interface Yaml extends Written, Plain {
  readonly faults: readonly (readonly [start: number, end: number, fault: Fault])[];
}

function readYaml(text: string): Yaml {
  const document = withoutStacks(() =>
    parseDocument(text, {
      prettyErrors: false,
      stringKeys: true,
      // `plainValue` finds duplicate keys in linear time; the library compares each key with all before it.
      uniqueKeys: false,
      resolveKnownTags: false,
      merge: false,
    }),
  );
  const { directives, contents: root } = document;
  const lines = linesOf(text);
  const faults: [number, number, Fault][] = [];
  const report = (start: number, end: number, fault: Fault): void => {
    // The parser may point past the end.
    faults.push([Math.min(start, text.length), Math.min(end, text.length), fault]);
  };
  if (directives?.yaml.explicit === true && directives.yaml.version !== "1.2") report(0, 0, oldYaml);
  const errors = firstErrors([...document.errors, ...document.warnings], lines);
  for (const error of errors) report(...error.pos, faultOf(error));
  if (errors.length > 0) return { lines, root, value: undefined, aliases: new Map(), faults };
  return {
    lines,
    root,
    faults,
    ...plainValue(root, ({ range: [start, end] }, fault) => report(start, end, fault)),
  };
}

/** Counted here, since the parser does not count line ends in text that it skips. */
function linesOf(text: string): LineCounter {
  const lines = new LineCounter();
  for (let at = 0; at >= 0; at = text.indexOf("\n", at) + 1 || -1) lines.addNewLine(at);
  return lines;
}

/** The library makes an error object for each fault, and its stack took most of the time. */
function withoutStacks<T>(work: () => T): T {
  const before = Error.stackTraceLimit;
  Error.stackTraceLimit = 0;
  try {
    return work();
  } finally {
    Error.stackTraceLimit = before;
  }
}

/** Top-level keys without a value count as left out: people comment sections out below their key. */
function layOver(layers: readonly Layer[], findings: Finding[]): JsonObject | undefined {
  let merged: JsonObject | undefined;
  let broken = false;
  for (const layer of layers) {
    if (layer.value === undefined) broken = true;
    else if (isObject(layer.value)) merged = merged === undefined ? layer.value : merge(merged, layer.value);
    else if (layer.value !== null) {
      broken = true;
      const [start, end] = layer.written().root?.range ?? [0, 0];
      findings.push(errorAt(rangeOf({ layer, start, end }), noMap));
    }
  }
  const [first] = layers;
  if (merged === undefined && !broken && first !== undefined && findings.length === 0)
    findings.push(errorAt(rangeOf({ layer: first, start: 0, end: 0 }), empty));
  if (broken || merged === undefined) return undefined;
  return Object.fromEntries(Object.entries(merged).filter(([, value]) => value !== null));
}

const oldYaml: Fault = {
  code: "yaml-version",
  message: "the file asks for another YAML than 1.2",
  hint: "remove the %YAML line: manifests are YAML 1.2",
};

const noMap: Fault = {
  code: "not-a-map",
  message: "a manifest is a map of keys and values, and this is not",
  hint: "begin with `apiVersion: graphform/v1`; `graphform init` writes an example",
};

const empty: Fault = {
  code: "empty",
  message: "the manifest is empty",
  hint: "begin with `apiVersion: graphform/v1`; `graphform init` writes an example",
};

/** The errors with the code of the first one, one a line: others are mostly consequences of it. */
function firstErrors(errors: readonly YAMLError[], lineCounter: LineCounter): readonly YAMLError[] {
  const exhausted = errors.find((error) => error.code === "RESOURCE_EXHAUSTION");
  const sorted = exhausted === undefined ? errors.toSorted((a, b) => a.pos[0] - b.pos[0]) : [exhausted];
  const lines = new Set<number>();
  const alike = sorted.filter(({ code, pos: [start] }) => {
    const { line } = lineCounter.linePos(start);
    if (code !== sorted[0]?.code || lines.has(line)) return false;
    lines.add(line);
    return true;
  });
  return alike.slice(0, maxSyntaxFaults);
}

function faultOf({ code, message }: YAMLError): Fault {
  const advice = special.find(({ part }) => message.includes(part)) ?? adviceFor[code];
  // Without the parser's quotes of the source, which may be a secret.
  const plain = message.replace(/(?<=\S): [\s\S]*$/, "").replace(/[.:]{1,9}$/, "");
  const words = advice?.message ?? plain.charAt(0).toLowerCase() + plain.slice(1);
  return { code: advice?.code ?? "yaml", message: words, hint: advice?.hint ?? anyHint };
}

const maxSyntaxFaults = 5;

const anyHint = "correct the YAML here; text with special characters needs quotes";
const indentHint = "align it with the lines above, two spaces a level";

type Advice = Pick<Fault, "hint"> & Partial<Fault>;

/** Recognised by the words of the parser: other errors share their codes. */
const special: readonly (Advice & { readonly part: string })[] = [
  {
    part: "flow-map-start at node end",
    message: "this { begins in the middle of a value",
    hint: 'inside { }, quote references: "${var.pw}"',
  },
  { part: "and end with a", hint: "close the bracket, or indent the lines inside of it" },
  {
    part: "token in YAML",
    message: "this does not belong here",
    hint: "a bracket or quote before it is closed too early, or the text needs quotes",
  },
];

const adviceFor: { readonly [code in ErrorCode]?: Advice } = {
  TAB_AS_INDENT: { message: "a tab is used as indentation", hint: "indent with spaces, two a level" },
  BAD_INDENT: { hint: indentHint },
  MULTIPLE_DOCS: {
    code: "several-documents",
    message: "a second YAML document begins here",
    hint: "keep one document in a file and name each file with -f",
  },
  BAD_ALIAS: { hint: "an alias (*name) needs an anchor (&name); text that begins with * needs quotes" },
  BAD_DQ_ESCAPE: { hint: "in double quotes a backslash begins an escape: write \\\\, or use single quotes" },
  BLOCK_AS_IMPLICIT_KEY: { hint: 'indent it, or put text that holds ": " in quotes' },
  MULTILINE_IMPLICIT_KEY: { hint: 'a line lacks its ":", or an earlier quote is not closed' },
  MISSING_CHAR: { hint: 'a ":" after a key, a quote or a bracket is missing' },
  TAG_RESOLVE_FAILED: {
    code: "unknown-tag",
    message: "this tag is not known, or does not fit its value",
    hint: "remove the tag; put the value in quotes to make it text",
  },
  BAD_COLLECTION_TYPE: { code: "unknown-tag", hint: "remove the tag" },
  NON_STRING_KEY: {
    code: "bad-key",
    message: "a key must be plain text",
    hint: "write the key as one word or in quotes",
  },
  RESOURCE_EXHAUSTION: {
    code: "too-deep",
    message: "nested far too deeply",
    hint: "a manifest needs no more than six levels; look for brackets or dashes that are never closed",
  },
};
