/** @module Counts the objects and lists that are read while a plan is made. */
import type { Reader } from "../model/kind.ts";

/** Receives how many reads are answered, and how many are known to be needed so far. */
export type OnRead = (answered: number, known: number) => void;

/**
 * Returns a function that wraps readers: every described object and every list is counted. `expected` is the least number of
 * reads; more become known as they are asked for.
 */
export function countReads(expected: number, onRead: OnRead | undefined): (reader: Reader) => Reader {
  if (onRead === undefined) return (reader) => reader;
  let [answered, asked] = [0, 0];
  const report = (): void => onRead(answered, Math.max(expected, asked));
  const counted = async <T>(answer: Promise<T>): Promise<T> => {
    asked += 1;
    try {
      return await answer;
    } finally {
      answered += 1;
      report();
    }
  };
  report();
  return (reader) => ({
    ...reader,
    get: (ref, signal) => counted(reader.get(ref, signal)),
    list: (place, signal) => counted(reader.list(place, signal)),
  });
}
