/** @module Defines problems of a manifest and their place. */
/** A position in a manifest file; lines and columns count from 1, as editors do. */
export interface Position {
  readonly line: number;
  readonly column: number;
}

/** Start and end of a text in a file. `end` is just past its last character. */
export interface SourceRange {
  readonly file: string;
  readonly start: Position;
  readonly end: Position;
}

/** Something that the manifest's author can fix. `code` is stable; `excerpt` is the source line. */
export interface Problem {
  readonly code: string;
  readonly severity: "error" | "warning";
  readonly message: string;
  readonly range: SourceRange;
  readonly excerpt?: string;
  readonly hint?: string;
  /** The resource it concerns, if there is one. */
  readonly address?: string;
}
