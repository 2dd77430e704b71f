import type { Vault } from "../model/sealed.ts";

/** What stands where a secret stood. */
export const mask = "***";

/**
 * Masks every text of the vault that is longer than 3 characters, wherever it stands in an output: as it is, as it
 * stands in JSON, in a URL, in HTML, in base64 at any offset, and its single lines where it has several. Knows what
 * was sealed after it was made. Cut outputs at line ends: half a secret is not known.
 */
export function redactor(vault: Pick<Vault, "texts">): (text: string) => string {
  let count = -1;
  let pattern: RegExp | undefined;
  return (text) => {
    const texts = [...vault.texts()];
    if (texts.length !== count) {
      count = texts.length;
      pattern = patternOf(texts);
    }
    return pattern === undefined ? text : text.replace(pattern, mask);
  };
}

function patternOf(texts: readonly string[]): RegExp | undefined {
  const lines = texts.flatMap((text) => text.split(/\r?\n/).filter((line) => line.length > 7));
  const secrets = [...texts, ...lines].filter((text) => text.length > 3);
  const forms = [...new Set(secrets.flatMap(formsOf))].sort((a, b) => b.length - a.length);
  if (forms.length === 0) return undefined;
  return new RegExp(forms.map((form) => form.replace(/[\\^$.*+?()[\]{}|/-]/g, "\\$&")).join("|"), "g");
}

function formsOf(text: string): readonly string[] {
  const quoted = JSON.stringify(text).slice(1, -1);
  const url = encodeURIComponent(text.toWellFormed());
  const strict = url.replace(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`);
  const urls = [url, strict, encodeURI(text.toWellFormed()), strict.replaceAll("%20", "+")];
  const lower = urls.map((form) => form.replace(/%[0-9A-F]{2}/g, (code) => code.toLowerCase()));
  const hex = Buffer.from(text, "utf8").toString("hex");
  return [
    text,
    quoted,
    JSON.stringify(quoted).slice(1, -1),
    ...urls,
    ...lower,
    html(text),
    hex,
    ...base64(text),
  ];
}

function html(text: string): string {
  const names: { readonly [char: string]: string } = {
    "&": "&amp;",
    "<": "&lt;",
    ">": "&gt;",
    '"': "&quot;",
    "'": "&#39;",
  };
  return text.replace(/[&<>"']/g, (char) => names[char] ?? char);
}

/** The characters of base64 that depend on the text alone, for each of the three offsets that it may start at. */
function base64(text: string): readonly string[] {
  const bytes = Buffer.from(text, "utf8");
  const cores = [0, 1, 2].map((offset) => {
    const encoded = Buffer.concat([Buffer.alloc(offset), bytes]).toString("base64");
    return encoded.slice(Math.ceil((offset * 8) / 6), Math.floor(((offset + bytes.length) * 8) / 6));
  });
  return cores.flatMap((core) => [core, core.replaceAll("+", "-").replaceAll("/", "_")]);
}
