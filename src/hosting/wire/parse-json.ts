/** @module Parses JSON from the network with a limit on its depth. */

import { type Json, jsonIn, nestingOf } from "../../model/json.ts";
import type { Hide } from "../../model/known-secrets.ts";

/** The deepest nesting that is read: no answer of a service needs more, and recursion over it must not overflow. */
const deepest = 100;

/** Parses a text; undefined if it is not JSON, or nested deeper than any answer. */
export function parseJson(text: string): Json | undefined {
  return nestingOf(text).deepest > deepest ? undefined : jsonIn(text);
}

/** Longest message of a service that is passed on, in characters. */
const longest = 500;

/** Control and format characters, line separators, lone surrogates. */
const hidden = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu;

/** Hides secrets, then cuts the text, then escapes characters that control a terminal. */
export function safeText(text: string, hide: Hide): string {
  const shown = hide(text);
  const cut = shown.length > longest ? `${shown.slice(0, longest)}...` : shown;
  return cut.replace(hidden, (character) => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`);
}
