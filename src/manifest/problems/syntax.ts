/** @module Explains the syntax errors of the YAML parser. */
import type { ErrorCode, YAMLError } from "yaml";
import type { Fault } from "./finding.ts";

/** A syntax error with a message and a hint of ours. */
export interface SyntaxFault extends Fault {
  /** Offset in the text. */
  readonly start: number;
  readonly end: number;
}

/**
 * Returns the errors that have the code of the first one, one for each line. Other errors after the first mistake are mostly
 * consequences of it.
 */
export function syntaxFaults(
  errors: readonly YAMLError[],
  lineAt: (offset: number) => number,
): readonly SyntaxFault[] {
  const exhausted = errors.find((error) => error.code === "RESOURCE_EXHAUSTION");
  const sorted = exhausted === undefined ? errors.toSorted((a, b) => a.pos[0] - b.pos[0]) : [exhausted];
  const lines = new Set<number>();
  const alike = sorted.filter(({ code, pos: [start] }) => {
    const line = lineAt(start);
    if (code !== sorted[0]?.code || lines.has(line)) return false;
    lines.add(line);
    return true;
  });
  return alike.slice(0, mostShown).map((error) => {
    const advice = special.find(({ part }) => error.message.includes(part)) ?? adviceFor[error.code];
    const message = advice?.message ?? plainWords(error.message);
    return {
      code: advice?.code ?? "yaml",
      message,
      hint: advice?.hint ?? anyHint,
      start: error.pos[0],
      end: error.pos[1],
    };
  });
}

const mostShown = 5;

/** The message of the parser without its quotes of the source, which may be a secret. */
function plainWords(message: string): string {
  const text = message.replace(/(?<=\S): [\s\S]*$/, "").replace(/[.:]{1,9}$/, "");
  return text.charAt(0).toLowerCase() + text.slice(1);
}

const anyHint = "correct the YAML here; text with special characters needs quotes";
const indentHint = "align it with the lines above, two spaces a level";

interface Advice {
  readonly code?: string;
  readonly message?: string;
  readonly hint: string;
}

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
