/** @module Defines the source files of a manifest before and after parsing, and the validators that it is checked with. */
import type { LineCounter, ParsedNode } from "yaml";
import type { Json, JsonObject } from "../model/json.ts";
import type { Finding } from "../model/kind.ts";
import type { SchemaError } from "../model/violation.ts";

/** One file of a manifest as text. `path` is spelled as the user spelled it. */
export interface SourceFile {
  readonly path: string;
  readonly text: string;
}

/** A path into the manifest: keys of maps, positions in lists. */
export type Path = readonly (string | number)[];

export interface Layer {
  readonly file: string;
  readonly text: string;
  /** Undefined if the file is not valid YAML. */
  readonly value: Json | undefined;
  readonly isJson: boolean;
  /** The nodes of the text. They are read again after `forget`, which frees most of the memory that a manifest takes. */
  readonly written: () => Written;
  readonly forget: () => void;
}

/** A file as it is written: what positions are found in. */
export interface Written {
  readonly lines: LineCounter;
  readonly root: ParsedNode | null;
  /** Alias -> the node that it refers to. */
  readonly aliases: ReadonlyMap<ParsedNode, ParsedNode>;
}

export interface Parsed {
  /** Undefined if any file is not YAML, or not a map, or if all are empty; `findings` has the reason. */
  readonly value: JsonObject | undefined;
  /** Lowest first. */
  readonly layers: readonly Layer[];
  readonly findings: readonly Finding[];
}

/** Returns all violations of a value; none if it is valid. */
export type Validate = (value: unknown) => readonly SchemaError[];

/** The compiled schemas: `scripts/emit.ts` compiles those of the package, tests of this stage compile those of their own kinds. */
export interface Validators {
  /** `documentShape`: the manifest without the fields of its resources. */
  readonly document: Validate;
  /** `resourceShape` of each kind, by section. */
  readonly resources: { readonly [section: string]: Validate };
}
