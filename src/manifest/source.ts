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

/** One file after parsing: its value, and the nodes that know where everything stands. */
export interface Layer {
  readonly file: string;
  readonly text: string;
  readonly lines: LineCounter;
  readonly root: ParsedNode | null;
  /** Undefined where the file is no YAML. */
  readonly value: Json | undefined;
  /** What each alias stands for. */
  readonly aliases: ReadonlyMap<ParsedNode, ParsedNode>;
}

/** A manifest after parsing: all layers laid over each other. */
export interface Parsed {
  /** Undefined where a file is no YAML, no map, or all are empty; `findings` then say so. */
  readonly value: JsonObject | undefined;
  /** Lowest first. */
  readonly layers: readonly Layer[];
  readonly findings: readonly Finding[];
}
