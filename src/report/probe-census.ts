/** @module Formats which running databases were asked, and why others were not. */
import type { JsonObject } from "../model/json.ts";
import type { Census } from "../model/plan.ts";
import { type NotProbed, notAskedFor } from "../model/probe.ts";
import { amount } from "./amounts.ts";
import { escapeText } from "./escape.ts";
import { wrapIndented } from "./text-width.ts";

type Probes = Pick<Census, "probed" | "notProbed" | "engines">;

/** The databases that were asked, and why others were not, escaped; undefined where there was none to ask. */
export function probeText({ probed, notProbed = [] }: Probes): string | undefined {
  if (probed === undefined || probed + notProbed.length === 0) return undefined;
  if (probed === 0 && notProbed.every(({ reason }) => reason === notAskedFor))
    return `databases: not asked (${notAskedFor})`;
  const failed = notProbed.filter((entry) => entry.failed === true);
  const unasked = notProbed.filter((entry) => entry.failed !== true);
  return [
    `databases: ${probed} asked`,
    ...(failed.length === 0 ? [] : [`no answer: ${reasonsText(failed)}`]),
    ...(unasked.length === 0 ? [] : [`not asked: ${reasonsText(unasked)}`]),
  ].join("; ");
}

function reasonsText(list: readonly NotProbed[]): string {
  const reasons = [...Map.groupBy(list, ({ reason }) => reason)].sort(([a], [b]) => (a < b ? -1 : 1));
  return escapeText(reasons.map(([reason, found]) => `${found.length} ${reason}`).join(", "), 500);
}

/** Says why a report is incomplete, without its full stop. */
export function incompleteText(
  { notProbed = [], partialLists = [], skipped, declared }: Census,
  unread = 0,
): string {
  const silent = notProbed.filter(({ failed }) => failed === true).length;
  const left = skipped - unread;
  return [
    ...(unread === 0
      ? []
      : [`${amount(unread, "resource")} or ${unread === 1 ? "list" : "lists"} could not be read`]),
    ...(silent === 0
      ? []
      : [`${amount(silent, "database")} or ${silent === 1 ? "login" : "logins"} could not be asked`]),
    ...(partialLists.length === 0
      ? []
      : [
          `${amount(partialLists.length, "list")} of the service ${partialLists.length === 1 ? "shows" : "show"} a part only`,
        ]),
    ...(left <= 0 && unread + silent + partialLists.length > 0
      ? []
      : [`--target or --exclude left out ${left} of ${declared} declared`]),
  ].join("; ");
}

/** The same as a line of a census. */
export function probeLines(census: Probes, width: number): readonly string[] {
  const text = probeText(census);
  return text === undefined ? [] : wrapIndented("          ", text, width);
}

/** The same as members of a census in JSON. */
export function probesJson({ probed, notProbed = [], engines = {} }: Probes): JsonObject {
  if (probed === undefined) return {};
  const reasons = notProbed.map(
    ({ address, reason, failed = false }): JsonObject => ({
      address,
      reason,
      failed,
    }),
  );
  return { probed, not_probed: reasons, engines: { ...engines } };
}
