/** @module Parses the YAML files of a manifest and merges them. */
import { LineCounter, parseDocument } from "yaml";
import type { JsonObject } from "../model/json.ts";
import { isObject } from "../model/json.ts";
import type { Finding } from "../model/kind.ts";
import { rangeOf } from "./locate.ts";
import { merge } from "./merge.ts";
import { plainValue } from "./plain-value.ts";
import { errorAt, type Fault } from "./problems/finding.ts";
import { syntaxFaults } from "./problems/syntax.ts";
import type { Layer, Parsed, SourceFile } from "./source.ts";

/** Reads YAML 1.2 (core schema); later files win. Collects findings; never throws. */
export function parseManifest(sources: readonly SourceFile[]): Parsed {
  const findings: Finding[] = [];
  const layers = sources.map((source) => parseLayer(source, findings));
  return { value: layOver(layers, findings), layers, findings };
}

function parseLayer(source: SourceFile, findings: Finding[]): Layer {
  const lines = new LineCounter();
  const document = withoutStacks(() =>
    parseDocument(source.text, {
      lineCounter: lines,
      prettyErrors: false,
      stringKeys: true,
      // `plainValue` finds duplicate keys in linear time; the library compares each key with all before it.
      uniqueKeys: false,
      resolveKnownTags: false,
      merge: false,
    }),
  );
  // The parser does not count the line ends of what it skips.
  lines.lineStarts = [0, ...[...source.text.matchAll(/\n/g)].map(({ index }) => index + 1)];
  const layer: Layer = {
    file: source.path,
    text: source.text,
    lines,
    root: document.contents,
    value: undefined,
    aliases: new Map(),
  };
  const report = (start: number, end: number, fault: Fault): void => {
    // The parser may point past the end.
    const last = source.text.length;
    findings.push(errorAt(rangeOf({ layer, start: Math.min(start, last), end: Math.min(end, last) }), fault));
  };
  const { directives } = document;
  if (directives?.yaml.explicit === true && directives.yaml.version !== "1.2") report(0, 0, oldYaml);
  const faults = syntaxFaults(
    [...document.errors, ...document.warnings],
    (offset) => lines.linePos(offset).line,
  );
  for (const { start, end, code, message, hint } of faults) report(start, end, { code, message, hint });
  if (faults.length > 0) return layer;
  const plain = plainValue(document.contents, (node, fault) => report(node.range[0], node.range[1], fault));
  return { ...layer, ...plain };
}

/** Turns stack traces off: the library makes an error object for each fault, and its stack took most of the time. */
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
      findings.push(
        errorAt(rangeOf({ layer, start: layer.root?.range[0] ?? 0, end: layer.root?.range[1] ?? 0 }), noMap),
      );
    }
  }
  const [first] = layers;
  if (merged === undefined && !broken && first !== undefined && findings.length === 0) {
    findings.push(errorAt(rangeOf({ layer: first, start: 0, end: 0 }), empty));
  }
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
