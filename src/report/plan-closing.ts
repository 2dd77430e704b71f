/** @module Formats the end of a plan: what was checked, the impact, and the summary line. */

import type { Json } from "../model/json.ts";
import { censusLines } from "./block-lines.ts";
import { escapeJson, escapeText } from "./escape.ts";
import type { Page } from "./palette.ts";
import { incompleteText } from "./probe-census.ts";
import { wrapIndented, wrapWords } from "./text-width.ts";
import type { PlanView } from "./view/plan-view.ts";
import { aboutTime, amount } from "./words.ts";

/** Number of checked resources, the sources of their values, and the impact of an apply. */
export function outlookLines({ census, forecast, severity }: PlanView, { width }: Page): readonly string[] {
  const { restarts, replacements, seconds } = forecast;
  const impact = `${amount(restarts, "restart")}, ${amount(replacements, "replacement")}, ${aboutTime(seconds)}`;
  return [
    ...censusLines(census, width),
    ...(severity === "nothing" ? [] : wrapIndented("Impact    ", impact, width)),
  ];
}

/** Most addresses that are named of those that are disrupted in one way. */
export const mostNamed = 500;

/** Every resource that loses data, is replaced or interrupted, by name: the last thing before a question. */
export function affectedLines({ affected, whole }: PlanView, { palette, width }: Page): readonly string[] {
  return affected.flatMap(({ title, severity, addresses }) => {
    const shown = addresses.slice(0, mostNamed).map((address) => escapeText(address, 300));
    const left = addresses.length - shown.length;
    const words = shown.map((address, at) => (at + 1 < addresses.length ? `${address},` : address));
    const lines = wrapWords(words, Math.max(20, width - 2));
    return [
      palette.bold(palette[severity === "bad" ? "red" : "yellow"](`${title} (${addresses.length})`)),
      ...lines.map((line) => `  ${line}`),
      ...(left === 0 ? [] : wrapIndented("  ", `and ${left} more: ${whole} has them`, width)),
    ];
  });
}

/** The last lines of a plan: facts to know before apply, and the line that scripts read. */
export function closingLines(view: PlanView, { palette, width }: Page): readonly string[] {
  const { complete, census, severity, summaryLine } = view;
  const { adopt, move, forget } = view.counts;
  const also = Object.entries({ adopt, move, forget }).filter(([, count]) => count > 0);
  const partial = `Incomplete: ${incompleteText(census)}.`;
  return [
    ...(complete ? [] : wrapIndented("", partial, width).map(palette.yellow)),
    ...(also.length === 0
      ? []
      : wrapIndented("", `Also: ${also.map(([verb, count]) => `${count} to ${verb}`).join(", ")}.`, width)),
    ...blockedLines(view, { palette, width }),
    ...(severity === "nothing" ? wrapIndented("", nothingToDo(view), width).map(palette.green) : []),
    palette.bold(summaryLine),
  ];
}

function blockedLines({ counts, groups, command }: PlanView, { palette, width }: Page): readonly string[] {
  const { blocked } = counts;
  if (blocked === 0) return [];
  const all = groups.reduce((sum, { count }) => sum + count, 0);
  const text = `${blocked} of these ${blocked === 1 ? "is" : "are"} blocked`;
  const rest = blocked === all ? "does nothing" : "carries out the rest";
  return wrapIndented("", `${text}: ${command} ${rest} and exits 4.`, width).map(palette.red);
}

/** States how many values were not compared: the service does not show them, so the last apply's are assumed. */
function nothingToDo({ verdict, notes, census }: PlanView): string {
  const { recorded, ...read } = census.fields;
  const all = recorded + read.probed + read.described + read.echoed;
  const notChecked =
    recorded === 1 ? "is as last applied or imported and was" : "are as last applied or imported and were";
  const phases = (["pending", "waiting-for-person", "failed"] as const).flatMap((is) => {
    const count = notes.reduce((sum, note) => sum + (note.is === is ? note.addresses.length : 0), 0);
    return count === 0 ? [] : [phaseTexts[is](count)];
  });
  return [
    verdict,
    ...(recorded === 0 ? [] : [`${recorded} of ${amount(all, "value")} ${notChecked} not checked.`]),
    ...phases,
  ].join(" ");
}

const phaseTexts = {
  pending: (count: number) =>
    `${amount(count, "operation")} ${count === 1 ? "is" : "are"} still running; apply will wait.`,
  "waiting-for-person": (count: number) =>
    `${amount(count, "resource")} ${count === 1 ? "waits" : "wait"} for a person.`,
  failed: (count: number) => `${amount(count, "resource")} failed.`,
};

/** One entry of `imports`. */
export function importEntry(address: string, id: string): string {
  return `- { address: ${yamlScalar(address)}, id: ${yamlScalar(id)} }`;
}

/** A value in YAML: plain if that is safe, otherwise quoted as in JSON. `${` is escaped, so it is no expression. */
export function yamlScalar(value: Json): string {
  if (typeof value !== "string") return JSON.stringify(value);
  const text = value.replaceAll("${", () => "$${");
  const isPlain =
    /^[A-Za-z][A-Za-z0-9._/-]*$/.test(text) && !/^(true|false|null|yes|no|on|off|y|n)$/i.test(text);
  return isPlain ? text : escapeJson(JSON.stringify(text));
}

/** Title of `importLines`. */
export const importTitle = "To bind what is there already, put this into the manifest";

/**
 * The section `imports` that binds everything that may be there already; no lines if nothing is. An entry is a comment where a person
 * has to decide, because several objects may be the resource, or several resources the object.
 */
export function importLines({ mayBe }: Pick<PlanView, "mayBe">): readonly string[] {
  const uses = Map.groupBy(mayBe, ({ kind, ids }) => `${kind} ${ids[0]}`);
  const lines = mayBe.map(({ address, kind, ids, count }) => {
    const [id = ""] = ids;
    const isSure = count === 1 && uses.get(`${kind} ${id}`)?.length === 1;
    if (isSure) return `  ${importEntry(address, id)}`;
    const more = count > ids.length ? ` and ${count - ids.length} more` : "";
    return `  # ${importEntry(address, "ID")} # may be ${escapeText(ids.join(", "), 300)}${more}`;
  });
  return lines.length === 0 ? [] : ["imports:", ...lines];
}
