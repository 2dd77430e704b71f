/** @module Names the ways out of drift: back to what is declared, or the manifest follows the world. */
import { parseAddress } from "../../model/address.ts";
import type { DriftReport, Happening } from "../../model/drift.ts";
import { shellWord } from "../../model/errors.ts";
import { passwordRefused } from "../../model/probe-troubles.ts";

/** One way out: a command and what it does, or a sentence alone. Not escaped. */
export interface WayOut {
  readonly command?: string;
  readonly text: string;
}

/** The way out of what nobody declares. */
export const wayOfUnmanaged =
  "declare it and bind it with graphform import ADDRESS ID, or delete it at the service";

/** What has happened to a resource as a whole, and apply undoes. */
const undone: readonly Happening[] = ["deleted", "failed", "stopped", "started"];

/** The ways out, once for all resources that were changed outside; the first of their fields is the example. */
export function waysOut({ resources }: DriftReport<unknown>): readonly WayOut[] {
  const outside = resources.filter((resource) => resource.class === "outside");
  const fields = outside
    .filter(({ what }) => what !== "failed")
    .flatMap(({ address, fields: all }) => all.map((entry) => ({ address, ...entry })))
    .filter((entry) => entry.class === "outside");
  const taken = fields.find((entry) => !entry.secret && entry.fixed !== true);
  const isPutBack =
    fields.some(({ remedy }) => remedy !== undefined) || outside.some(({ what }) => undone.includes(what));
  const undeclared = outside
    .filter(({ what }) => what === "deleted")
    .map(({ address }) =>
      parseAddress(address)?.key === undefined ? "remove the block" : "take its entry out of forEach",
    );
  return [
    ...(isPutBack
      ? [{ command: "graphform plan", text: "shows what putting it back takes; graphform apply does it" }]
      : []),
    ...(fields.some(({ remedy }) => remedy === undefined)
      ? [{ text: "apply leaves a field as it is if its line names a command" }]
      : []),
    ...(fields.some(({ reason }) => reason.startsWith(passwordRefused))
      ? [{ text: "a password was rotated on purpose: put the new one into its secret, and look again" }]
      : []),
    ...(taken === undefined
      ? []
      : [
          {
            command: `graphform drift --adopt ${shellWord(`${taken.address}.${taken.path}`)}`,
            text: "writes the live value into the manifest",
          },
        ]),
    ...[...new Set(undeclared)].map((words) => ({
      text: `deleted, and that is meant: ${words}, or list the address under removed`,
    })),
  ];
}
