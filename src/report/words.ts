/** @module Words for kinds, sources of values, times and amounts. */
import type { FieldSchema } from "../model/field-schema.ts";
import type { Kind } from "../model/kind.ts";
import type { Source } from "../model/observed.ts";

/** The names and schemas of the kinds, as reports use them. */
export interface KindNames {
  find(section: string): Pick<Kind, "noun" | "type" | "schema"> | undefined;
}

/** Resource type in JSON reports; an unknown section gives `graphform_SECTION`. */
export function typeOf(kind: string, names: KindNames): string {
  return names.find(kind)?.type ?? `graphform_${kind}`;
}

/** The row of the field at a dotted path, or of the secret field above it. */
export function rowAt(kind: string, path: string, names: KindNames): FieldSchema | undefined {
  let row: FieldSchema | undefined = names.find(kind)?.schema;
  for (const key of path.split(".")) {
    const rows: FieldSchema["properties"] = row?.properties;
    row = rows !== undefined && Object.hasOwn(rows, key) ? rows[key] : undefined;
    if (row?.["x-secret"] === true) return row;
  }
  return row;
}

/** A count with its noun: `1 restart`, `2 restarts`, `no restarts`. */
export function amount(count: number, noun: string): string {
  return `${count === 0 ? "no" : count} ${noun}${count === 1 ? "" : "s"}`;
}

/** Formats an estimated duration in seconds: `about 12 minutes`. */
export function aboutTime(seconds: number): string {
  if (seconds < 5) return "a few seconds";
  if (seconds < 55) return `about ${Math.ceil(seconds / 5) * 5} seconds`;
  if (seconds < 90) return "about a minute";
  const minutes = Math.round(seconds / 60);
  if (minutes < 90) return `about ${minutes} minutes`;
  const halves = Math.round(seconds / 1800);
  const hours = Math.floor(halves / 2);
  return halves % 2 === 0 ? `about ${hours} hours` : `about ${hours}½ hours`;
}

/** Formats elapsed ms in short form: `10s`, `3m20s`, `1h05m`. */
export function elapsedTime(ms: number): string {
  const seconds = Math.floor(ms / 1000);
  const minutes = Math.floor(seconds / 60);
  if (minutes === 0) return `${seconds}s`;
  if (minutes < 60) return `${minutes}m${String(seconds % 60).padStart(2, "0")}s`;
  return `${Math.floor(minutes / 60)}h${String(minutes % 60).padStart(2, "0")}m`;
}

/** `2026-03-02 08:30 UTC`, or the text if it is no time of this form. Not escaped. */
export function timeText(iso: string): string {
  const match = /^(\d{4}-\d\d-\d\d)T(\d\d:\d\d)[\d:.]*Z$/.exec(iso);
  return match === null ? iso : `${match[1]} ${match[2]} UTC`;
}

/** Words for each source of a value, after a count: `49 read from the service`. */
export const sourceWords: { readonly [source in Source]: string } = {
  probed: "read from the database",
  described: "read from the service",
  echoed: "echoed back",
  recorded: "remembered",
};

/** The source behind a value: ` (remembered)`. Empty for what the service describes, and if the source is not known. */
export function sourceNote(source: Source | undefined): string {
  return source === undefined || source === "described" ? "" : ` (${sourceWords[source]})`;
}

/** Meanings of the sources whose words do not say all. */
export const sourceMeaning: { readonly [source in Source]?: string } = {
  probed: "the running database itself was asked",
  echoed: "the service repeats what it was last sent",
  recorded: "known from the last apply, and not checked",
};

/** Meanings of the notes that stand in these lines: `(echoed back) the service repeats what it was last sent`. */
export function sourceMeanings(lines: readonly string[]): readonly string[] {
  const text = lines.join(" ").replace(/\s+/g, " ");
  return (["probed", "echoed", "recorded"] as const)
    .filter((source) => text.includes(sourceNote(source)))
    .map((source) => `${sourceNote(source).trim()} ${sourceMeaning[source]}`);
}
