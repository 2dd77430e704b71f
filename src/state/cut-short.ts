/** @module Recognises a JSON text whose end is missing. */
/**
 * True for a text that does not parse because its end is missing: it is empty or nothing but zeros (what a power
 * failure leaves), or a JSON object that is never closed.
 */
export function isCutShort(text: string): boolean {
  const whole = text.replaceAll("\0", "").trim();
  return whole === "" || (whole.startsWith("{") && leftOpen(whole));
}

/** True where a text ends within a string or has more opening than closing brackets outside of strings. */
function leftOpen(text: string): boolean {
  let depth = 0;
  let quoted = false;
  for (let at = 0; at < text.length; at += 1) {
    const char = text[at];
    if (quoted && char === "\\") at += 1;
    else if (char === '"') quoted = !quoted;
    else if (!quoted && (char === "{" || char === "[")) depth += 1;
    else if (!quoted && (char === "}" || char === "]")) depth -= 1;
  }
  return quoted || depth > 0;
}
