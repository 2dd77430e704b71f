/** @module Makes texts of a service safe to print. */
/** Longest message of a service that is passed on, in characters. */
const longest = 500;

/** Control and format characters, line separators, lone surrogates. */
const hidden = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu;

/**
 * Masks secrets, then cuts the text, then escapes characters that control a terminal.
 */
export function safeText(text: string, hide: (text: string) => string): string {
  const masked = withoutCredentials(hide(text));
  const cut = masked.length > longest ? `${masked.slice(0, longest)}...` : masked;
  return cut.replace(hidden, (character) => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`);
}

/**
 * Hides every word of a text that reads like `user:password@host`: monitoring entries of a service show their address so,
 * and a failure may repeat it.
 */
export function withoutCredentials(text: string): string {
  if (!text.includes("@")) return text;
  return text
    .split(/([\s"'<>()]+)/)
    .map((word) => (hasCredentials(word) ? credentials : word))
    .join("");
}

const credentials = "(an address with credentials)";

function hasCredentials(word: string): boolean {
  const at = word.lastIndexOf("@");
  return (
    at > 0 &&
    word
      .slice(0, at)
      .replace(/^[a-z][a-z0-9+.-]{0,20}:\/\//i, "")
      .includes(":")
  );
}
