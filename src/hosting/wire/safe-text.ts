/** @module Makes texts of a service safe to print. */
import type { Hide } from "../../model/known-secrets.ts";

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
