/** @module Says which lists of the service may not be all. */
import type { JsonObject } from "../model/json.ts";
import type { Census } from "../model/plan.ts";
import { escapeText } from "./escape.ts";
import { wrapIndented } from "./text-width.ts";

type Lists = Pick<Census, "partialLists">;

/** Lists that are named; the others are counted. */
const named = 5;

/** The number of unmanaged objects, which a partial list may hide more of. */
export function unmanagedText({ unmanaged, partialLists }: Census): string {
  return `${unmanaged} unmanaged${partialLists === undefined ? "" : ", possibly more"}`;
}

/** The partial lists with what follows from them, escaped; undefined where every list was whole. */
export function partialText({ partialLists = [] }: Lists): string | undefined {
  if (partialLists.length === 0) return undefined;
  const rest = partialLists.length - named;
  const names = `${partialLists.slice(0, named).join(", ")}${rest > 0 ? ` and ${rest} more` : ""}`;
  return `possibly more than the service lists: ${escapeText(names, 500)}; what it leaves out may be there already`;
}

/** The same as a line of a census. */
export function partialLines(census: Lists, width: number): readonly string[] {
  const text = partialText(census);
  return text === undefined ? [] : wrapIndented("          ", text, width);
}

/** The same as a member of a census in JSON. */
export function partialJson({ partialLists }: Lists): JsonObject {
  return partialLists === undefined ? {} : { partial_lists: partialLists };
}
