import type { Change, Plan } from "../model/plan.ts";
import { changeLines } from "./change-lines.ts";
import { escapeText } from "./escape.ts";
import { driftRows, fieldLines } from "./field-lines.ts";
import type { KindNames } from "./kind-words.ts";
import { outputLines } from "./output-lines.ts";
import type { Page } from "./palette.ts";
import { closingLines, outlookLines } from "./plan-closing.ts";
import { type Group, groupChanges } from "./plan-groups.ts";
import { hang } from "./text-width.ts";

/**
 * A plan as a person reads it on a terminal: worst first, then the outputs that change, what was looked at and what to
 * expect, and last the line that scripts read. Ends with a line break.
 */
export function planText(plan: Plan, names: KindNames, page: Page): string {
  const title = `Plan for ${escapeText(plan.name, 100)}${plan.complete ? "" : " (incomplete)"}`;
  const blocks = [
    [page.palette.bold(title)],
    ...groupChanges(plan.changes).flatMap((group) => groupBlocks(group, names, page)),
    restlessLines(plan, names, page),
    outputLines(plan, page),
    outlookLines(plan, page),
    closingLines(plan, page),
  ];
  const written = blocks.filter((block) => block.length > 0).map((block) => block.join("\n"));
  return `${written.join("\n\n")}\n`;
}

function groupBlocks(group: Group, names: KindNames, page: Page): readonly (readonly string[])[] {
  const { palette } = page;
  const note = group.note === "" ? "" : palette.dim(` · ${group.note}`);
  const title = palette.bold(palette[group.tone](`${group.title} (${group.changes.length})`)) + note;
  return [[title], ...group.changes.map((change) => changeLines(change, names, page))];
}

/** What is as declared and yet worth a word: failed, still converging, waiting for a person, changed outside. */
function restlessLines(plan: Plan, names: KindNames, page: Page): readonly string[] {
  const { palette, width } = page;
  const lines = plan.changes
    .filter((change) => change.action === "keep")
    .sort((a, b) => (a.address < b.address ? -1 : 1))
    .flatMap((change) => {
      const said = restless(change);
      const drifted = driftRows(change, names).map((row) => ({ ...row, note: "" }));
      const drift = fieldLines(drifted, 4, page);
      if (said === undefined && drift.length === 0) return [];
      const sign = change.phase?.is === "failed" ? palette.red("!") : palette.yellow("…");
      const [first = "", ...rest] = hang(
        "  … ",
        `${escapeText(change.address, 300)}: ${said ?? "changed outside, left as it is"}`,
        width,
      );
      return [first.replace("…", () => sign), ...rest, ...drift];
    });
  return lines.length === 0 ? [] : [palette.bold("Not at rest"), "", ...lines];
}

function restless({ phase, id }: Change): string | undefined {
  if (phase === undefined) return undefined;
  const detail = escapeText(phase.detail);
  const which = id === undefined ? "" : `${escapeText(id, 100)} `;
  if (phase.is === "pending") return `${which}is still ${detail}; apply goes on waiting`;
  if (phase.is === "waiting-for-person") return `${which}waits for a person: ${detail}`;
  return phase.is === "failed" ? `the service says ${detail}` : undefined;
}
