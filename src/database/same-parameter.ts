/** @module Compares a declared parameter with the value that the engine reads back. */
import { parseSize } from "../model/quantity.ts";

/** Parameter -> the value that the engine makes of a given one. */
const readings: { readonly [parameter: string]: (value: number) => number } = {
  // Rounded up to a power of two, and never below 128.
  NODE_CREATION_BUFFER: (value) => 2 ** Math.max(7, Math.ceil(Math.log2(Math.max(1, value)))),
  // Any negative number is unlimited and reads as -1; the service writes unlimited as 0.
  RESULTSET_SIZE: (value) => (value <= 0 ? -1 : value),
};

/**
 * True where a live parameter is what was declared, in the engine's own reading of it: "25" is 25, `6GB` is its bytes,
 * and a value that the engine rounds is what it rounds to.
 */
export function sameParameter(parameter: string, declared: number | string, live: number | string): boolean {
  const reading = readings[parameter] ?? ((value: number): number => value);
  const [want, have] = [numberOf(declared), numberOf(live)];
  return want === undefined || have === undefined
    ? String(declared) === String(live)
    : reading(want) === reading(have);
}

function numberOf(value: number | string): number | undefined {
  if (typeof value === "number") return value;
  return /^-?[0-9]+$/.test(value.trim()) ? Number(value) : parseSize(value);
}
