/** @module Names the ways out of drift: back to what is declared, or the manifest follows the world. */
import { parseAddress } from "../model/address.ts";
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
export function waysOut({ resources }: DriftReport<unknown>): readonly WayOut[] {
  const outside = resources.filter((resource) => resource.class === "outside");
  if (outside.length === 0) return [];
  const field = outside
    .flatMap(({ address, fields }) => fields.map((entry) => ({ address, ...entry })))
    .find((entry) => entry.class === "outside" && !entry.secret && entry.fixed !== true);
  const putBack = "shows what putting it back takes; graphform apply does it";
  const take = field && `graphform drift --adopt ${shellWord(`${field.address}.${field.path}`)}`;
  const deleted = outside.filter(({ what }) => what === "deleted");
  const undeclare = deleted.map(({ address }) =>
    parseAddress(address)?.key === undefined ? "remove the block" : "take its entry out of forEach",
  );
  return [
    { command: "graphform plan", text: putBack },
    ...(take === undefined ? [] : [{ command: take, text: "writes the live value into the manifest" }]),
    ...[...new Set(undeclare)].map((words) => ({
      text: `deleted, and that is meant: ${words}, or list the address under removed`,
    })),
  ];
}
