/** How much of a service's message is passed on, in characters. */
const longest = 500;

/** Control characters, what reorders or hides text, line separators, halves of surrogate pairs. */
const hidden = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu;

/**
 * A service's own words made safe to pass on: secrets are hidden first, then the rest is cut, and what could steer a
 * terminal is spelled out.
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
    .map((word) => (holdsCredentials(word) ? credentials : word))
    .join("");
}

const credentials = "(an address with credentials)";

function holdsCredentials(word: string): boolean {
  const at = word.lastIndexOf("@");
  return (
    at > 0 &&
    word
      .slice(0, at)
      .replace(/^[a-z][a-z0-9+.-]{0,20}:\/\//i, "")
      .includes(":")
  );
}
