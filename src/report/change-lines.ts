/** @module Formats one change of a plan as lines of text. */

import type { Action, Change, Guard } from "../model/plan.ts";
import { fieldsOf } from "../model/spec.ts";
import { escapeText } from "./escape.ts";
import { driftRows, type FieldRow, fieldLines, fieldRows } from "./field-lines.ts";
import { headline } from "./headline.ts";
import type { KindNames } from "./kind-words.ts";
import type { Page, Palette } from "./palette.ts";
import { textWidth, wrapIndented } from "./text-width.ts";

/** Sign and colour of each action. */
const actionSigns: {
  readonly [action in Action]: { readonly sign: string; readonly tone: keyof Palette };
} = {
  create: { sign: "+", tone: "green" },
  update: { sign: "~", tone: "yellow" },
  replace: { sign: "±", tone: "red" },
  delete: { sign: "-", tone: "red" },
  adopt: { sign: "↳", tone: "cyan" },
  move: { sign: "→", tone: "cyan" },
  forget: { sign: "○", tone: "cyan" },
  keep: { sign: "=", tone: "dim" },
};

/** The lines of one change: address and place, reason, disruption, fields, drift and guards. */
export function changeLines(change: Change, names: KindNames, page: Page): readonly string[] {
  return [
    ...headline({ ...signOf(change), ...change, where: change.where }, page),
    ...bodyLines(change, [fieldRows(change, names), driftRows(change, names)], page),
  ];
}

/** Sign and colour of a change. */
export function signOf({ action }: Pick<Change, "action">): (typeof actionSigns)[Action] {
  return actionSigns[action];
}

/** The lines of a change below its headline. `rows` are the fields that it sets, and those that it leaves as they are. */
export function bodyLines(
  change: Change,
  rows: readonly (readonly FieldRow[])[],
  page: Page,
): readonly string[] {
  return [
    ...reasonLines(change, page),
    ...phaseLines(change, page),
    ...backupLines(change, page),
    ...uncheckedLines(change, page),
    ...rows.flatMap((some) => fieldLines(some, 4, page)),
    ...change.blocked.flatMap((guard) => guardLines(guard, page.palette, page)),
  ];
}

/** Fields that a binding takes from the manifest: the service does not show them, so they were not checked. */
function uncheckedLines({ action, before, after }: Change, { palette, width }: Page): readonly string[] {
  if (action !== "adopt") return [];
  const unseen = fieldsOf(after ?? {}).flatMap(([path]) =>
    before?.[path] === undefined ? [escapeText(path.replace(/^config\./, ""), 100)] : [],
  );
  if (unseen.length === 0) return [];
  const text = `not shown by the service, taken from your file: ${unseen.join(", ")}`;
  return wrapIndented("    ? ", text, width).map(palette.yellow);
}

const disruptionTexts: {
  readonly [disruption in Change["disruption"]]: { readonly text: string; readonly tone: keyof Palette };
} = {
  none: { text: "", tone: "plain" },
  restart: { text: "restart", tone: "yellow" },
  downtime: { text: "downtime", tone: "yellow" },
  "data-loss": { text: "data loss", tone: "red" },
};

function reasonLines(change: Change, { palette, width }: Page): readonly string[] {
  const { action, previousAddress } = change;
  const { text, tone } = disruptionTexts[change.disruption];
  const from =
    previousAddress === undefined || action === "move"
      ? ""
      : `, moved from ${escapeText(previousAddress, 300)}`;
  const reason = wrapIndented("    ", `${action}: ${escapeText(change.reason)}${from}`, width);
  if (text === "") return reason;
  const last = reason.at(-1) ?? "";
  const tail = palette[tone](`· ${text}`);
  if (textWidth(last) + text.length + 3 > width) return [...reason, `    ${tail}`];
  return [...reason.slice(0, -1), `${last} ${tail}`];
}

function backupLines({ backupFirst }: Change, { width }: Page): readonly string[] {
  if (backupFirst !== true) return [];
  return wrapIndented("    ", "backed up first: nothing is deleted before the backup is complete", width);
}

function phaseLines({ phase, reason }: Change, { palette, width }: Page): readonly string[] {
  if (phase === undefined || phase.is === "ready" || phase.is === "stopped" || phase.is === "gone") return [];
  const detail = escapeText(phase.detail);
  if (detail !== "" && escapeText(reason).includes(detail)) return [];
  if (phase.is === "failed")
    return wrapIndented("    ! ", `the service says ${detail}`, width).map(palette.red);
  return wrapIndented(
    "    … ",
    phase.is === "pending" ? `still ${detail}` : `waits for a person: ${detail}`,
    width,
  ).map(palette.yellow);
}

function guardLines(guard: Guard, palette: Palette, { width }: Page): readonly string[] {
  const label = "way out:";
  const [first = "", ...rest] = wrapIndented(`      ${label} `, escapeText(guard.lift), width);
  return [
    ...wrapIndented("    ✗ ", escapeText(guard.message), width).map(palette.red),
    first.replace(label, () => palette.dim(label)),
    ...rest,
  ];
}
