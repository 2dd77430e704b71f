/** @module Defines the source files of a manifest before and after parsing. */
import type { LineCounter, ParsedNode } from "yaml";
import type { Json, JsonObject } from "../model/json.ts";
import type { Finding } from "../model/kind.ts";

/** One file of a manifest as text. `path` is spelled as the user spelled it. */
export interface SourceFile {
  readonly path: string;
  readonly text: string;
}

/** A path into the manifest: keys of maps, positions in lists. */
export type Path = readonly (string | number)[];

/** One parsed file: its value, and its nodes with their positions. */
export interface Layer {
  readonly file: string;
  readonly text: string;
  readonly lines: LineCounter;
  readonly root: ParsedNode | null;
  /** Undefined where the file is not valid YAML. */
  readonly value: Json | undefined;
  /** Alias -> the node that it refers to. */
  readonly aliases: ReadonlyMap<ParsedNode, ParsedNode>;
}

/** A parsed manifest: all layers merged. */
export interface Parsed {
  /** Undefined where a file is not YAML or not a map, or all are empty; `findings` has the reason. */
  readonly value: JsonObject | undefined;
  /** Lowest first. */
  readonly layers: readonly Layer[];
  readonly findings: readonly Finding[];
}
