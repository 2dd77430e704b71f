/** How much of a service's message is passed on, in characters. */
const longest = 500;

/** Control characters, what reorders or hides text, line separators, halves of surrogate pairs. */
const hidden = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu;

/**
 * A service's own words made safe to pass on: what was sent as a secret is masked in every spelling, what could steer a
 * terminal is spelled out, and the rest is cut. A text that holds a secret of one to three characters is withheld.
 */
export function safeText(text: string, secrets: readonly string[]): string {
  const spellings = new Set(secrets.filter((secret) => secret !== "").flatMap(spellingsOf));
  const sorted = [...spellings].sort((a, b) => b.length - a.length);
  if (sorted.some((secret) => secret.length < 4 && text.includes(secret)))
    return "(withheld: it repeats a secret)";
  const masked = sorted.reduce((rest, secret) => rest.replaceAll(secret, "***"), text);
  const cut = masked.length > longest ? `${masked.slice(0, longest)}...` : masked;
  return cut.replace(hidden, (character) => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`);
}

/** A secret as JSON, a URL and HTTP Basic would write it. */
function spellingsOf(secret: string): readonly string[] {
  return [secret, JSON.stringify(secret).slice(1, -1), encodeURIComponent(secret.toWellFormed())];
}
