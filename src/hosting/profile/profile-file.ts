/** @module Reads and validates a profile file with the profiles that it extends. */

import { readFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { type Document, isNode, LineCounter, parseDocument } from "yaml";
import { packageRoot } from "../../files/package-file.ts";
import { exitCodes, GraphformError } from "../../model/errors.ts";
import { isObject, type Json, type JsonObject } from "../../model/json.ts";
import type { Profile } from "../../model/service.ts";
import { type Conforms, type SchemaError, violatedPath, violationText } from "../../model/violation.ts";
import { expandProfile, type ProfileFault, type ProfileText, unfold } from "./expand-profile.ts";

interface Layer {
  readonly file: string;
  readonly document: Document;
  readonly lines: LineCounter;
  readonly value: JsonObject;
}

type Layers = readonly [Layer, ...Layer[]];

const longestChain = 8;

/** In characters. The library compares each key with all before it: a longer file would take minutes. */
const longestFile = 128 * 1024;

/** Merges the chain and expands it. Throws `profile-invalid` (exit 3) with file, line and column of the first mistake. */
export async function readProfile(path: string, isValid: Conforms<ProfileText>): Promise<Profile> {
  const layers = await readLayers(path);
  const value = layers.reduceRight((lower, layer) => layOver(lower, unfold(layer.value)), {});
  if (!isValid(value)) throw invalid(layers, faultOf(isValid.errors ?? [], value));
  const { profile, faults } = expandProfile(value);
  const [fault] = faults;
  if (fault !== undefined) throw invalid(layers, fault);
  return profile;
}

/** The file first, then the files that it extends. */
async function readLayers(path: string): Promise<Layers> {
  const top = await readLayer(path);
  const layers: [Layer, ...Layer[]] = [top];
  const message = "profiles extend each other without end";
  for (let last = top; typeof last.value["extends"] === "string"; ) {
    if (layers.length === longestChain) throw invalid([top], { path: ["extends"], message });
    last = await readLayer(pathOf(last.value["extends"], dirname(last.file)));
    layers.push(last);
  }
  return layers;
}

/** A bare name is a built-in profile; anything else is a path, relative to the file that names it. */
function pathOf(name: string, folder: string): string {
  return /^[a-z][a-z0-9-]*$/.test(name) ? join(profileFolder(), `${name}.yaml`) : resolve(folder, name);
}

async function readLayer(file: string): Promise<Layer> {
  const text = await readFile(file, "utf8").catch((cause: unknown) => {
    throw new GraphformError("profile-unreadable", `cannot read the profile ${file}`, {
      exitCode: exitCodes.invalid,
      hint: "name a built-in profile (default, falkordb-cloud) or the path of a profile file",
      cause,
    });
  });
  if (text.length > longestFile) {
    const message = `the profile ${file} is longer than ${longestFile} characters`;
    const hint = "leave out everything that is not part of a profile: the built-in one has a tenth of that";
    throw new GraphformError("profile-invalid", message, { exitCode: exitCodes.invalid, hint });
  }
  const lines = new LineCounter();
  const document = parseDocument(text, {
    lineCounter: lines,
    prettyErrors: false,
    stringKeys: true,
    resolveKnownTags: false,
  });
  const value: unknown = document.errors.length > 0 ? undefined : plain(document);
  const layer = { file, document, lines, value: isObject(value) ? value : {} };
  const [error] = document.errors;
  if (error !== undefined) throw invalidAt(layer, error.pos[0], error.message);
  if (!isObject(value)) throw invalidAt(layer, 0, "a profile is a map of keys and values");
  return layer;
}

/** The document's value; undefined if its aliases expand without limit. */
function plain(document: Document): unknown {
  try {
    return document.toJS({ maxAliasCount: 100 });
  } catch {
    return undefined;
  }
}

/** Points at the uppermost file that writes the key, or the nearest key above it. */
function invalid(layers: Layers, { path, message }: ProfileFault): GraphformError {
  for (let length = path.length; length > 0; length -= 1) {
    for (const layer of layers) {
      const node: unknown = layer.document.getIn(path.slice(0, length), true);
      if (isNode(node) && node.range) return invalidAt(layer, node.range[0], message);
    }
  }
  return invalidAt(layers[0], 0, message);
}

function invalidAt(layer: Pick<Layer, "file" | "lines">, offset: number, message: string): GraphformError {
  const { line, col } = layer.lines.linePos(offset);
  const place = `${layer.file}:${Math.max(1, line)}:${Math.max(1, col)}`;
  const hint = "graphform schema profile prints what a profile may hold";
  return new GraphformError("profile-invalid", `${place}: ${message}`, { exitCode: exitCodes.invalid, hint });
}

/** Merges `upper` into `lower`: maps deeply; lists and single values are replaced; null removes a key. */
function layOver(lower: JsonObject, upper: JsonObject): JsonObject {
  const merged = new Map<string, Json>(Object.entries(lower));
  for (const [key, value] of Object.entries(upper)) {
    const below = merged.get(key);
    if (value === null) merged.delete(key);
    else merged.set(key, isObject(value) ? layOver(isObject(below) ? below : {}, value) : value);
  }
  return Object.fromEntries(merged);
}

/** The folder of the profiles that come with the package. */
export function profileFolder(): string {
  return join(packageRoot, "profiles");
}

/** Explains the deepest violation: in an `anyOf` it belongs to the branch that fits best. */
function faultOf(errors: readonly SchemaError[], value: JsonObject): ProfileFault {
  const deepest = [...errors]
    .filter(({ keyword }) => keyword !== "anyOf" && keyword !== "propertyNames")
    .sort((a, b) => depth(b) - depth(a));
  const [worst] = deepest;
  if (worst === undefined) return { path: [], message: "it is not a profile" };
  return { path: violatedPath(worst), message: violationText(worst, value) };
}

function depth(error: SchemaError): number {
  return error.instancePath.split("/").length + (error.keyword === "type" ? 0 : 0.5);
}
