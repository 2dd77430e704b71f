/** @module Formats which running databases were asked, and why others were not. */
import type { JsonObject } from "../model/json.ts";
import type { Census } from "../model/plan.ts";
import { notAskedFor } from "../model/probe.ts";
import { escapeText } from "./escape.ts";
import { wrapIndented } from "./text-width.ts";

type Probes = Pick<Census, "probed" | "notProbed" | "engines">;

/** The databases that were asked, and why others were not, escaped; undefined where there was none to ask. */
export function probeText({ probed, notProbed = [] }: Probes): string | undefined {
  if (probed === undefined || probed + notProbed.length === 0) return undefined;
  if (probed === 0 && notProbed.every(({ reason }) => reason === notAskedFor))
    return `databases: not asked (${notAskedFor})`;
  const reasons = [...Map.groupBy(notProbed, ({ reason }) => reason)].sort(([a], [b]) => (a < b ? -1 : 1));
  const text = reasons.map(([reason, list]) => `${list.length} ${reason}`).join(", ");
  const missing = reasons.length === 0 ? "" : `; not asked: ${escapeText(text, 500)}`;
  return `databases: ${probed} asked${missing}`;
}

/** The same as a line of a census. */
export function probeLines(census: Probes, width: number): readonly string[] {
  const text = probeText(census);
  return text === undefined ? [] : wrapIndented("          ", text, width);
}

/** The same as members of a census in JSON. */
export function probesJson({ probed, notProbed = [], engines = {} }: Probes): JsonObject {
  if (probed === undefined) return {};
  const reasons = notProbed.map(({ address, reason }): JsonObject => ({ address, reason }));
  return { probed, not_probed: reasons, engines: { ...engines } };
}
