/** @module Names the ways out of drift: back to what is declared, or the manifest follows the world. */
import type { DriftReport } from "../model/drift.ts";
import { shellWord } from "../model/shell-word.ts";

/** One way out: a command and what it does, or a sentence alone. Not escaped. */
export interface WayOut {
  readonly command?: string;
  readonly text: string;
}

/** The way out of what nobody declares. */
export const wayOfUnmanaged =
  "declare it and bind it with graphform import ADDRESS ID, or delete it at the service";

/** The ways out, once for all resources that were changed outside; the first of their fields is the example. */
export function waysOut({ resources }: DriftReport): readonly WayOut[] {
  const outside = resources.filter((resource) => resource.class === "outside");
  if (outside.length === 0) return [];
  const field = outside
    .flatMap(({ address, fields }) => fields.map((entry) => ({ address, ...entry })))
    .find((entry) => entry.class === "outside" && !entry.secret);
  const putBack = "shows what putting it back takes; graphform apply does it";
  const take = field && `graphform drift --adopt ${shellWord(`${field.address}.${field.path}`)}`;
  const isDeleted = outside.some(({ what }) => what === "deleted");
  const meant = "deleted, and that is meant: remove the block, or list the address under removed";
  return [
    { command: "graphform plan", text: putBack },
    ...(take === undefined ? [] : [{ command: take, text: "writes the live value into the manifest" }]),
    ...(isDeleted ? [{ text: meant }] : []),
  ];
}
