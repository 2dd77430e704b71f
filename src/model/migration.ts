/** @module Defines what the state remembers of a database whose data is being moved, and the windows in which it may move. */
import type { Address } from "./address.ts";
import type { MigrationRules } from "./desired.ts";
import type { Json } from "./json.ts";

/** The phases of a migration in their order. */
export const migrationPhases = [
  "create",
  "rehearse",
  "await-cutover",
  "quiesce",
  "freeze",
  "copy",
  "verify",
  "durable",
  "fence",
  "switch",
  "hook",
  "hold",
] as const;
export type MigrationPhase = (typeof migrationPhases)[number];

/** Measurements of a rehearsal, in ms and bytes. */
export interface Rehearsed {
  /** The id of the new object that was rehearsed with. */
  readonly next: string;
  /** ISO 8601. */
  readonly at: string;
  readonly bytes: number;
  /** Bytes of the largest value. */
  readonly largest: number;
  readonly copy: number;
  readonly verify: number;
  /** Longest time in which the live database did not answer. */
  readonly stall: number;
}

/** Everything that a step of a migration needs beside its address. */
export interface MigrationTerms extends MigrationRules {
  /** The cutover was asked for by its address. */
  readonly cutover: boolean;
  /** Resources that live inside of the database: their addresses. */
  readonly inside: readonly Address[];
  /** Parameters of the engine that the manifest sets: the new database keeps its own. */
  readonly parameters: readonly string[];
  /** Declared outputs: those that name the address, or something inside, get their new values with the switch. */
  readonly outputs?: { readonly [name: string]: { readonly value: Json; readonly sensitive: boolean } };
}

/** A rehearsal, if it was made with the new object that is there now. */
export function currentRehearsal(
  migration: { readonly rehearsed?: Rehearsed } | undefined,
  next: { readonly id: string } | undefined,
): Rehearsed | undefined {
  return migration?.rehearsed?.next === next?.id ? migration?.rehearsed : undefined;
}

/** Ms for which writes were refused, or would be: what a rehearsal has measured, and the time that a stop takes. */
export function readOnlyTime({ copy, verify }: Rehearsed, stop: number): number {
  return copy + verify + stop;
}

/** Ms after which a cutover is given up: twice the expected read-only time. A small database is not given up for one slow answer. */
export function readOnlyLimit(expected: number): number {
  return Math.max(10_000, 2 * expected);
}

/** True if the data may be moved: it was asked for, or a window is open, and its read-only time was seen by a person or is short enough. */
export function mayMove(
  { cutover, windows, maxReadOnly }: Pick<MigrationTerms, "cutover" | "windows" | "maxReadOnly">,
  time: number,
  wasRehearsed: boolean,
  now: number,
): boolean {
  const fits = maxReadOnly !== undefined && time <= maxReadOnly;
  if (cutover && (wasRehearsed || fits)) return true;
  return isInWindow(windows, now) && (fits || maxReadOnly === undefined);
}

const days = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];

/** True if a time lies in one of the windows, each like `sat,sun 02:00-04:00` in UTC. One that ends before it begins ends on the next day. */
export function isInWindow(windows: readonly string[], now: number): boolean {
  return windows.some((text) => {
    const [, named, from = "", to = ""] = /^(?:(\S+) )?(\d\d:\d\d)-(\d\d:\d\d)$/.exec(text) ?? [];
    const date = new Date(now);
    const minute = date.getUTCHours() * 60 + date.getUTCMinutes();
    const [begin, end] = [minutesOf(from), minutesOf(to)];
    const isOn = (day: number): boolean => named?.split(",").includes(days[(day + 7) % 7] ?? "") !== false;
    const today = date.getUTCDay();
    if (begin < end) return isOn(today) && minute >= begin && minute < end;
    return (isOn(today) && minute >= begin) || (isOn(today - 1) && minute < end);
  });
}

function minutesOf(text: string): number {
  const [hours = 0, minutes = 0] = text.split(":").map(Number);
  return hours * 60 + minutes;
}

/** True in the phases in which the service stops or starts the database of the address. */
export function isStoppingOrStarting({ phase }: { readonly phase?: MigrationPhase }): boolean {
  return phase === "fence" || phase === "switch";
}

/** True for a migration whose database may be stopped, or takes no writes. */
export function isClosed(
  migration: { readonly cap?: number; readonly phase?: MigrationPhase } = {},
): boolean {
  return migration.cap !== undefined || isStoppingOrStarting(migration);
}
