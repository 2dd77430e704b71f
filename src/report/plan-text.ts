/** @module Formats a plan as text for the terminal. */
import type { Change, Plan } from "../model/plan.ts";
import type { Command } from "./apply-summary.ts";
import { blockLines } from "./block-lines.ts";
import { escapeText } from "./escape.ts";
import { driftRows, fieldLines } from "./field-lines.ts";
import type { KindNames } from "./kind-words.ts";
import { legendLines } from "./legend.ts";
import { outputLines } from "./output-lines.ts";
import type { Page } from "./palette.ts";
import { closingLines, outlookLines } from "./plan-closing.ts";
import { type Group, groupChanges } from "./plan-groups.ts";
import { wrapIndented } from "./text-width.ts";

/**
 * The plan as text: changes, worst first, then notes on unchanged resources, changed outputs, checks and impact, and last the
 * line that scripts read. `command` carries it out. Ends with a line break.
 */
export function planText(plan: Plan, names: KindNames, page: Page, command: Command = "apply"): string {
  const title = `Plan for ${escapeText(plan.name, 100)}${plan.complete ? "" : " (incomplete)"}`;
  const changed = [
    ...groupChanges(plan.changes).flatMap((group) => groupBlocks(group, names, page)),
    noteLines(plan, names, page, command),
    outputLines(plan, page),
  ];
  const blocks = [
    [page.palette.bold(title)],
    ...changed,
    [...outlookLines(plan, page), ...legendLines(changed.flat(), page)],
    closingLines(plan, page, command),
  ];
  const written = blocks.filter((block) => block.length > 0).map((block) => block.join("\n"));
  return `${written.join("\n\n")}\n`;
}

function groupBlocks(group: Group, names: KindNames, page: Page): readonly (readonly string[])[] {
  const { palette } = page;
  const note = group.note === "" ? "" : palette.dim(` · ${group.note}`);
  const title = palette.bold(palette[group.tone](`${group.title} (${group.changes.length})`)) + note;
  return [[title], ...blockLines(group.changes, names, page)];
}

/** Notes on resources without changes: failed, in progress, waiting for a person, or changed outside. */
function noteLines(plan: Plan, names: KindNames, page: Page, command: Command): readonly string[] {
  const { palette, width } = page;
  const lines = plan.changes
    .filter((change) => change.action === "keep")
    .sort((a, b) => (a.address < b.address ? -1 : 1))
    .flatMap((change) => {
      const note = phaseNote(change, command);
      const outside = change.drift.filter(({ wayOut }) => wayOut === undefined).map(({ path }) => path);
      const drifted = driftRows(change, names).map((row) =>
        outside.includes(row.path) ? { ...row, note: "" } : row,
      );
      const drift = fieldLines(drifted, 4, page);
      if (note === undefined && drift.length === 0) return [];
      const sign = change.phase?.is === "failed" ? palette.red("!") : palette.yellow("…");
      const [first = "", ...rest] = wrapIndented(
        "  … ",
        `${escapeText(change.address, 300)}: ${note ?? "changed outside, left as it is"}`,
        width,
      );
      return [first.replace("…", () => sign), ...rest, ...drift];
    });
  return lines.length === 0 ? [] : [palette.bold("Not ready, or changed outside"), "", ...lines];
}

function phaseNote({ phase, id }: Change, command: Command): string | undefined {
  if (phase === undefined) return undefined;
  const detail = escapeText(phase.detail);
  const which = id === undefined ? "" : `${escapeText(id, 100)} `;
  if (phase.is === "pending") return `${which}is still ${detail}; ${command} will wait`;
  if (phase.is === "waiting-for-person") return `${which}waits for a person: ${detail}`;
  return phase.is === "failed" ? `the service says ${detail}` : undefined;
}
