/** @module Reads what a database shows of a field in the words of the manifest. */

import type { Address } from "./address.ts";
import { type FieldSchema, fieldRows, type KindSchema, type ProbeReading } from "./field-schema.ts";
import { type Json, type JsonObject, own } from "./json.ts";
import type { Live } from "./observed.ts";
import { parseSize } from "./quantity.ts";
import type { Spec } from "./spec.ts";

/**
 * The value of a field that a database shows: the first of `known` (declared, described, last applied) that the engine reads as this, or
 * the engine's own in the manifest's words. Undefined if it cannot be told.
 */
export function readBack(row: FieldSchema, raw: RawValue, known: readonly Json[]): Json | undefined {
  const probe = row["x-probe"];
  if (probe === undefined) return undefined;
  if ("connection" in probe) return probe.connection === "tls" ? raw : raw === true ? known[0] : null;
  const { reading } = probe;
  if (reading === "nodes") return known.find((value) => Number(value) === Number(raw) + 1);
  if (reading === "switch") return Number(raw) === 0 ? "off" : undefined;
  const isSize = reading === "size" || reading === "memory-label";
  if (reading === "rows" && numberOf(raw) === 0) return noRows;
  const live = engineValue(isSize ? undefined : reading, raw);
  const same = known.find((value) => engineValue(reading, value) === live);
  return same ?? (isSize ? sizeText(Number(raw)) : (numberOf(raw) ?? raw));
}

/** The value that the engine makes of a declared one. */
export function engineValue(reading: ProbeReading | undefined, value: Json): RawValue {
  if (reading === "size") return parseSize(String(value)) ?? String(value);
  if (reading === "memory-label") return own(memoryLabels, String(value)) ?? String(value);
  const number = typeof value === "number" || typeof value === "string" ? numberOf(value) : undefined;
  if (number === undefined) return String(value);
  if (reading === "power-of-two") return 2 ** Math.max(7, Math.ceil(Math.log2(Math.max(1, number))));
  // Any negative number is no limit and reads as -1; services write no limit as 0.
  return reading === "rows" && number <= 0 ? -1 : number;
}

/** A running database with 0 gives no rows at all, whatever services mean by it: no value of the manifest asks for that. */
const noRows = "no rows";

/** Bytes of the labels of a Startup database: 1000-based, and less than the label's own number. */
const memoryLabels: { readonly [label: string]: number } = {
  ...{ "1200M": 1e9, "1GB": 1e9, "2200M": 2e9, "2GB": 2e9 },
};

function numberOf(value: RawValue): number | undefined {
  if (typeof value === "number") return value;
  return typeof value === "string" && /^-?[0-9]{1,15}$/.test(value.trim()) ? Number(value) : undefined;
}

const units: readonly (readonly [bytes: number, unit: string])[] = [
  [1024 ** 3, "GB"],
  [1e9, "G"],
  [1024 ** 2, "MB"],
  [1e6, "M"],
];

/** Bytes in the largest unit that shows them exactly; 0 is no limit. */
function sizeText(bytes: number): string {
  if (bytes === 0) return "no limit";
  const [factor, unit] = units.find(([each]) => bytes > 0 && bytes % each === 0) ?? [1, "B"];
  return `${bytes / factor}${unit}`;
}

/** The values that an answer shows of the fields that `knownAt` has values of, dotted path -> value; null if the declared one is refused. */
export function valuesShown(
  schema: KindSchema,
  answer: ProbeAnswer,
  knownAt: (path: string) => readonly Json[],
): { readonly [path: string]: Json } {
  if (answer.is === "not-asked" || answer.is === "unanswered") return {};
  if (answer.is === "refused") return { [answer.path]: null };
  const rows = fieldRows(schema);
  const shown = Object.entries(answer.values).flatMap(([path, raw]): [string, Json][] => {
    const [row, known] = [rows.get(path), knownAt(path)];
    const value = row === undefined || known.length === 0 ? undefined : readBack(row, raw, known);
    return value === undefined ? [] : [[path, value]];
  });
  return Object.fromEntries(shown);
}

/** True for a kind that shows no more than whether its login is taken: a user of a database, and no database. */
export function isLoginKind(schema: KindSchema): boolean {
  return [...fieldRows(schema).values()].every(
    ({ "x-probe": probe }) => probe === undefined || ("connection" in probe && probe.connection === "login"),
  );
}

/** An object, and everything that it is asked with. It holds opened secrets, lives for one question and goes nowhere else. */
export interface ProbeRequest {
  readonly live: Live;
  /** Declared values that are known now, secrets opened. */
  readonly spec: Spec;
  /** The objects that the spec refers to, by the path of the reference. */
  readonly referents: { readonly [path: string]: Referent };
}

/** An object that another one refers to. */
export interface Referent {
  readonly outputs: JsonObject;
  /** The values that were declared or last applied. */
  readonly spec: Spec;
}

/** `refused`: it surely refuses the declared value of `path`. `unanswered`: it was asked. `not-asked`: nothing to ask, or to ask with. */
export type ProbeAnswer =
  | {
      readonly is: "answered";
      /** Path -> the engine's own value; true if the connection proves what is declared. */
      readonly values: { readonly [path: string]: RawValue };
      readonly engine?: string;
      /** Tells the running process from every other one; absent if it does not say. */
      readonly identity?: string;
      /** Says what it refused to tell, if it did. */
      readonly denied?: string;
    }
  | ({ readonly is: "refused"; readonly path: string } & Unanswered)
  | ({ readonly is: "unanswered" } & Unanswered)
  | ({ readonly is: "not-asked" } & Unanswered);

/** The reason for an answer that is missing, and what can be done about it. */
interface Unanswered {
  readonly reason: string;
  readonly wayOut?: string;
}

/** A value as the engine gives it. */
export type RawValue = number | string | boolean;

/** The reason why no object was asked if the run was told to ask none. */
export const notAskedFor = "--no-probe";

/** An object that was not asked, did not answer, or refuses the declared password. */
export interface NotProbed extends Unanswered {
  readonly address: Address;
  /** A login of a user of a database, and no database. */
  readonly login?: true;
  /** It was asked, and did not answer all: what it shows is not known. */
  readonly failed?: true;
  /** It was tried, and refuses the declared password. */
  readonly refused?: true;
}
