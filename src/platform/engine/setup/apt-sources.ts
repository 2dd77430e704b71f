/** @module Selects the archives of this machine's own release from apt's configuration. */
/** A file of apt's configuration; its extension tells the format. */
export interface SourceFile {
  readonly name: string;
  readonly text: string;
}

/**
 * The archives of this release, with backports added where they are missing, since newer servers are only there. Archives of third
 * parties are left out.
 */
export function withBackports(files: readonly SourceFile[], codename: string): readonly SourceFile[] {
  const backports = `${codename}-backports`;
  const kept = files.flatMap((file) => {
    const text = (file.name.endsWith(".sources") ? stanzas : lines)(file.text, codename);
    return text === "" ? [] : [{ ...file, text }];
  });
  if (kept.some(({ text }) => text.includes(backports))) return kept;
  let isAdded = false;
  return kept.map((file) => {
    if (isAdded) return file;
    const text = file.name.endsWith(".sources")
      ? addToStanza(file.text, codename)
      : addLine(file.text, codename);
    isAdded = text !== file.text;
    return { ...file, text };
  });
}

/** Stanzas of the release in deb822 format, without comments. */
function stanzas(text: string, codename: string): string {
  const uncommented = text.replace(/^#.*\n?/gm, "");
  const kept = uncommented.split(/\n\s*\n/).filter((stanza) => {
    const field = (name: string): string =>
      new RegExp(`^${name}:(.*(?:\\n[ \\t].*)*)`, "im").exec(stanza)?.[1] ?? "";
    const isBinary = /\bdeb\b(?!-)/.test(field("Types"));
    const isOn = !/^\s*no\s*$/i.test(field("Enabled"));
    return (
      isBinary &&
      isOn &&
      isOfRelease(field("Suites").split(/\s+/), field("Components").split(/\s+/), codename)
    );
  });
  return kept.map((stanza) => `${stanza.trim()}\n`).join("\n");
}

/** Lines of the release in the one-line format. */
function lines(text: string, codename: string): string {
  const kept = text.split("\n").filter((line) => {
    const [, suite = "", components = ""] =
      /^deb\s+(?:\[[^\]]*\]\s+)?\S+\s+(\S+)\s+(.*)$/.exec(line.trim()) ?? [];
    return isOfRelease([suite], components.split(/\s+/), codename);
  });
  return kept.map((line) => `${line.trim()}\n`).join("");
}

function isOfRelease(suites: readonly string[], components: readonly string[], codename: string): boolean {
  const ours = ["", "-updates", "-security", "-backports"].map((suffix) => `${codename}${suffix}`);
  return components.includes("main") && suites.some((suite) => ours.includes(suite));
}

function addToStanza(text: string, codename: string): string {
  return text.replace(new RegExp(`^(Suites:.*[ \\t]${codename})(?=\\s)`, "im"), `$1 ${codename}-backports`);
}

function addLine(text: string, codename: string): string {
  const line = new RegExp(`^(deb\\s+(?:\\[[^\\]]*\\]\\s+)?\\S+\\s+)${codename}(\\s.*)$`, "m").exec(text);
  return line === null ? text : `${text}${line[1]}${codename}-backports${line[2]}\n`;
}
