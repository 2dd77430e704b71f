/** Shorter texts may stand anywhere by chance: "free" is a tier. */
const telling = 8;

/** Where one of the texts stands in clear in a value, as a dotted path; undefined where none does. */
export function findSecret(value: unknown, texts: Iterable<string>): string | undefined {
  return findText(
    value,
    [...texts].filter((text) => text.length >= telling),
    "",
  );
}

function findText(value: unknown, texts: readonly string[], at: string): string | undefined {
  if (typeof value === "string") return texts.some((text) => value.includes(text)) ? at : undefined;
  if (typeof value !== "object" || value === null) return undefined;
  for (const [key, member] of Object.entries(value)) {
    if (texts.some((text) => key.includes(text))) return `a key of ${at}`;
    const found = findText(member, texts, at === "" ? key : `${at}.${key}`);
    if (found !== undefined) return found;
  }
  return undefined;
}
