/** @module Defines one replacement of text in a file of the manifest. */
import type { SourceRange } from "../../model/problem.ts";
import type { Layer } from "../source.ts";

/** Replaces the text from `start` to `end` of one layer; everything else stays byte for byte. */
export interface Edit {
  readonly layer: Layer;
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/** A value that cannot be written into the manifest, with the reason, the place and the way out. */
export interface Refusal {
  readonly message: string;
  readonly where?: SourceRange;
  readonly hint: string;
}

/** The text of a layer after an edit. */
export function editedText({ layer, start, end, text }: Edit): string {
  return layer.text.slice(0, start) + text + layer.text.slice(end);
}

/** The line end that a file uses. */
export function lineEnd(layer: Pick<Layer, "text">): "\r\n" | "\n" {
  return layer.text.includes("\r\n") ? "\r\n" : "\n";
}
