/** @module Counts what a drift report has found. */
import type { DriftClass, DriftReport } from "../../model/drift.ts";
import { amount } from "../words.ts";

/** Numbers of a report. */
export interface DriftCounts {
  /** Resources that were changed outside. */
  readonly outside: number;
  /** Resources with changes of the manifest that are not applied. */
  readonly ours: number;
  /** Differences that do not matter: fields and outputs. */
  readonly cosmetic: number;
  /** Values that something showed in this run. */
  readonly seen: number;
  /** Values that only the last apply knows. */
  readonly remembered: number;
}

/** The numbers of a report. */
export function countDrift({ resources, outputs, census }: DriftReport<unknown>): DriftCounts {
  const of = (is: DriftClass): number => resources.filter((resource) => resource.class === is).length;
  const fields = resources.flatMap((resource) => resource.fields);
  const { probed, described, echoed, recorded } = census.fields;
  const unimportant = resources.filter(
    (resource) => resource.class === "cosmetic" && resource.fields.length === 0,
  );
  return {
    outside: of("outside"),
    ours: resources.filter(
      (resource) => resource.class === "ours" || resource.fields.some((field) => field.class === "ours"),
    ).length,
    cosmetic:
      fields.filter((field) => field.class === "cosmetic").length + unimportant.length + outputs.length,
    seen: probed + described + echoed,
    remembered: recorded,
  };
}

/** A sentence without its full stop: how many values were seen, of all, and how many are only remembered. */
export function seenText({ seen, remembered }: DriftCounts): string {
  const looked = `${seen} of ${amount(seen + remembered, "value")} ${seen === 1 ? "was" : "were"} seen`;
  if (remembered === 0) return looked;
  return `${looked}; ${remembered} ${remembered === 1 ? "is" : "are"} only remembered from the last apply`;
}

/** Lists of which the service shows a part only, in words, each with what follows. */
export function partialListsIn({
  census,
}: Pick<DriftReport<unknown>, "census">): readonly { address: string; reason: string }[] {
  const reason = "the service has possibly more than it lists: nobody knows what is not declared there";
  return (census.partialLists ?? []).map((address) => ({ address, reason }));
}

/** Resources that could not be read, those whose running database gave no answer, and partial lists, each with the reason. */
export function unseenIn({
  census,
}: Pick<DriftReport<unknown>, "census">): readonly { address: string; reason: string }[] {
  const silent = (census.notProbed ?? []).filter(({ failed }) => failed === true);
  return [
    ...census.notChecked.filter(({ failed }) => failed === true),
    ...silent.map(({ address, reason, wayOut, login, refused }) => {
      const way = wayOut === undefined ? "" : ` (${wayOut})`;
      if (refused === true) return { address, reason: `${reason}${way}` };
      const what = login === true ? "its login could not be checked" : "its database gave no answer";
      return { address, reason: `${what}: ${reason}${way}` };
    }),
    ...partialListsIn({ census }),
  ].map(({ address, reason }) => ({ address, reason }));
}
