/** @module Decodes the bytes of a manifest file as UTF-8. */
import { isUtf8 } from "node:buffer";
import type { Position } from "../model/problem.ts";
import type { Fault } from "./problems/finding.ts";

/** The text of a file, or the fault that makes it unreadable and its position. */
export type Decoded = { readonly text: string } | { readonly fault: Fault; readonly position: Position };

const saveAsUtf8 = "save the file as UTF-8 text without NUL bytes";

/** Drops a byte order mark. UTF-16, NUL bytes and invalid UTF-8 are faults. */
export function decode(bytes: Uint8Array): Decoded {
  const [first, second] = bytes;
  if ((first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff)) {
    const fault: Fault = { code: "not-utf8", message: "the file is UTF-16", hint: saveAsUtf8 };
    return { fault, position: { line: 1, column: 1 } };
  }
  const text = new TextDecoder().decode(bytes);
  const nul = text.indexOf("\0");
  if (nul >= 0) {
    const fault: Fault = {
      code: "binary",
      message: "the file contains a NUL byte: it is not text",
      hint: saveAsUtf8,
    };
    return { fault, position: positionAt(text, nul) };
  }
  if (isUtf8(bytes)) return { text };
  const fault: Fault = { code: "not-utf8", message: "the file is not UTF-8 from here on", hint: saveAsUtf8 };
  return { fault, position: positionAt(text, firstBroken(text, bytes)) };
}

/** The offset of the first replacement character that the decoder has put in for invalid bytes. */
function firstBroken(text: string, bytes: Uint8Array): number {
  const encoder = new TextEncoder();
  let offset = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 3 : 0;
  let from = 0;
  for (let at = text.indexOf("\ufffd"); at >= 0; at = text.indexOf("\ufffd", at + 1)) {
    offset += encoder.encode(text.slice(from, at)).length;
    if (bytes[offset] !== 0xef || bytes[offset + 1] !== 0xbf || bytes[offset + 2] !== 0xbd) return at;
    from = at;
  }
  return 0;
}

function positionAt(text: string, offset: number): Position {
  const before = text.slice(0, offset);
  const lineStart = before.lastIndexOf("\n") + 1;
  return { line: before.split("\n").length, column: offset - lineStart + 1 };
}
