/** @module Parses and formats times, durations and memory sizes. */
/** At most 24 days: a timer of Node that is longer ends at once, and dates end a few digits later. */
const form = /^(?:[0-9]{1,9}ms|[01]?[0-9]{1,6}s|[0-2]?[0-9]{1,4}m|[0-4]?[0-9]{1,2}h|(?:[01]?[0-9]|2[0-4])d)$/;

/** A duration as the manifest writes it: a whole number of `ms`, `s`, `m`, `h` or `d`, at most 24 days. */
export const durationPattern: string = form.source;

const unitMs: { readonly [unit: string]: number } = {
  ...{ ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 },
};

/** Milliseconds of `90s`, `40m`, `2h`; undefined if the text is no duration, or one of more than 24 days. */
export function parseDuration(text: string): number | undefined {
  const [, amount, unit] = (form.test(text) && /^([0-9]{1,9})([a-z]{1,2})$/.exec(text)) || [];
  const factor = unit === undefined ? undefined : unitMs[unit];
  return factor === undefined ? undefined : Number(amount) * factor;
}

/** A duration for people: `4 s`, `3 min 20 s`, `2 h 5 min`. */
export function formatDuration(ms: number): string {
  const seconds = Math.round(ms / 1000);
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return seconds % 60 === 0 ? `${minutes} min` : `${minutes} min ${seconds % 60} s`;
  const hours = Math.floor(minutes / 60);
  return minutes % 60 === 0 ? `${hours} h` : `${hours} h ${minutes % 60} min`;
}

/** A measured time as "913 ms", or in whole seconds. */
export function aboutDuration(ms: number): string {
  return ms < 1000 ? `${Math.round(ms)} ms` : formatDuration(Math.round(ms / 1000) * 1000);
}

const timeForm = /^(\d{4}-\d{2}-\d{2})T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?:Z|[+-]\d{2}:\d{2})$/;

/** A time in ISO 8601 with its zone, in ms since 1970. Undefined for another text, and for a day that no month has: `Date` takes the next month's. */
export function parseTime(text: string): number | undefined {
  const [, day = ""] = timeForm.exec(text) ?? [];
  const [time, midnight] = [Date.parse(text), Date.parse(`${day}T00:00:00Z`)];
  if (Number.isNaN(time) || Number.isNaN(midnight)) return undefined;
  return new Date(midnight).toISOString().startsWith(day) ? time : undefined;
}

const powers: { readonly [letter: string]: number } = { "": 0, K: 1, M: 2, G: 3, T: 4 };

/** Bytes of a memory size: `6GB`, `6Gi` and `6GiB` are 1024-based, `6G` is 1000-based, a bare number is bytes. */
export function parseSize(text: string): number | undefined {
  const [, amount, letter, rest] = /^([0-9]+(?:\.[0-9]+)?)\s?([KMGT]?)(i?B?)$/i.exec(text.trim()) ?? [];
  const power = letter === undefined ? undefined : powers[letter.toUpperCase()];
  if (power === undefined || (letter === "" && rest?.toLowerCase().startsWith("i"))) return undefined;
  const base = rest === "" ? 1000 : 1024;
  return Math.round(Number(amount) * base ** power);
}

/** Some of many: `a and b`, or `a, b, c and 4 more`. `count`: of all, if only some are given. */
export function fewOf(texts: readonly string[], count: number = texts.length): string {
  return count > 3 ? firstOf(texts, 3, count) : texts.join(" and ");
}

/** The first of these, and the number of the others: `a, b and 3 more`. */
export function firstOf(texts: readonly string[], max: number, count: number = texts.length): string {
  const rest = count - max;
  return `${texts.slice(0, max).join(", ")}${rest > 0 ? ` and ${rest} more` : ""}`;
}
