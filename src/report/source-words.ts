/** @module Names the sources of observed values. */
import type { Source } from "../model/observed.ts";

/** Words for each source of a value, after a count: `49 read from the service`. */
export const sourceWords: { readonly [source in Source]: string } = {
  probed: "read from the database",
  described: "read from the service",
  echoed: "echoed back",
  recorded: "remembered",
};

/** The source behind a value: ` (remembered)`. Empty for what the service describes, and where the source is not known. */
export function sourceNote(source: Source | undefined): string {
  return source === undefined || source === "described" ? "" : ` (${sourceWords[source]})`;
}

const explained: readonly (readonly [source: Source, meaning: string])[] = [
  ["probed", "the running database itself was asked"],
  ["echoed", "the service repeats what it was last sent"],
  ["recorded", "known from the last apply; nobody has looked"],
];

/** Meanings of the notes that stand in these lines: `(echoed back) the service repeats what it was last sent`. */
export function sourceMeanings(lines: readonly string[]): readonly string[] {
  const text = lines.join(" ").replace(/\s+/g, " ");
  return explained
    .filter(([source]) => text.includes(sourceNote(source)))
    .map(([source, meaning]) => `${sourceNote(source).trim()} ${meaning}`);
}

/** One sentence on each source that a census counts and whose name does not say it all. */
export function censusMeanings(fields: { readonly [source in Source]: number }): readonly string[] {
  return explained
    .filter(([source]) => source !== "probed" && fields[source] > 0)
    .map(([source, meaning]) => `${sourceWords[source]}: ${meaning}.`)
    .map((text) => `${text.charAt(0).toUpperCase()}${text.slice(1)}`);
}
