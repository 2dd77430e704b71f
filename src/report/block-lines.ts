/** @module Formats one block of equal changes as lines of text. */
import type { Action, Census, Guard } from "../model/plan.ts";
import { escapeText } from "./escape.ts";
import { fieldLines, fieldRow } from "./field-lines.ts";
import { headLines, type Sign } from "./head-lines.ts";
import type { Page, Palette } from "./palette.ts";
import { partialLines, unmanagedText } from "./partial-lists.ts";
import { probeLines } from "./probe-census.ts";
import { textWidth, wrapIndented } from "./text-width.ts";
import type { BlockView } from "./view/block-view.ts";
import { sourceWords } from "./words.ts";

/** Sign and colour of each action. */
const signs: { readonly [action in Action]: Sign } = {
  create: { mark: "+", tone: "green" },
  update: { mark: "~", tone: "yellow" },
  replace: { mark: "±", tone: "red" },
  delete: { mark: "-", tone: "red" },
  adopt: { mark: "↳", tone: "cyan" },
  move: { mark: "→", tone: "cyan" },
  forget: { mark: "○", tone: "cyan" },
  keep: { mark: "=", tone: "dim" },
};

/** The lines of a block: addresses and place, reason, disruption, fields, drift and guards. `more` says where all addresses are named. */
export function blockLines(block: BlockView, page: Page, more: string): readonly string[] {
  const { addresses, action, phase, waysOn, backupFirst, unchecked, fields, drifted, guards } = block;
  const { palette, width } = page;
  const [sign, tone] = phase?.is === "failed" ? (["!", "red"] as const) : (["…", "yellow"] as const);
  const unseen = unchecked.map((path) => escapeText(path.replace(/^config\./, ""), 100)).join(", ");
  return [
    ...headLines(addresses, signs[action], page, block.gone ? undefined : more),
    ...reasonLines(block, page),
    ...(phase === undefined
      ? []
      : wrapIndented(`    ${sign} `, escapeText(phase.text), width).map(palette[tone])),
    ...wayLines(waysOn, page),
    ...(backupFirst
      ? wrapIndented("    ", "backed up first: nothing is deleted before the backup is complete", width)
      : []),
    ...(unseen === ""
      ? []
      : wrapIndented("    ? ", `not shown by the service, taken from your file: ${unseen}`, width).map(
          palette.yellow,
        )),
    ...[fields, drifted].flatMap((rows) =>
      fieldLines(
        rows.map((row) => fieldRow(row)),
        4,
        page,
      ),
    ),
    ...guards.flatMap((guard) => guardLines(guard, page)),
  ];
}

const disruptionTones: { readonly [disruption in BlockView["disruption"]]: keyof Palette } = {
  none: "plain",
  restart: "yellow",
  downtime: "yellow",
  "data-loss": "red",
};

function reasonLines(block: BlockView, { palette, width }: Page): readonly string[] {
  const { addresses, action, disruption } = block;
  const [first, ...others] = addresses;
  const previous = others.length === 0 ? first?.previous : first?.previous && "PREVIOUS";
  const from = previous === undefined || action === "move" ? "" : `, moved from ${escapeText(previous, 300)}`;
  const reason = wrapIndented("    ", `${action}: ${escapeText(block.reason)}${from}`, width);
  if (disruption === "none") return reason;
  const last = reason.at(-1) ?? "";
  const felt = `· ${disruption.replace("-", " ")}`;
  const tail = palette[disruptionTones[disruption]](felt);
  if (textWidth(last) + felt.length + 1 > width) return [...reason, `    ${tail}`];
  return [...reason.slice(0, -1), `${last} ${tail}`];
}

function guardLines(guard: Guard, page: Page): readonly string[] {
  const message = wrapIndented("    ✗ ", escapeText(guard.message), page.width);
  return [...message.map(page.palette.red), ...wayLines(guard.lift, page)];
}

/** A way out; nothing where there is none to name. */
export function wayLines(text: string | undefined, { palette, width }: Page): readonly string[] {
  if (text === undefined) return [];
  const label = "way out:";
  const [first = "", ...rest] = wrapIndented(`      ${label} `, escapeText(text), width);
  return [first.replace(label, () => palette.dim(label)), ...rest];
}

/** Number of checked resources, the sources of their values, and the databases that were asked. `width` is in columns. */
export function censusLines(census: Census, width: number): readonly string[] {
  const { declared, checked, skipped, fields } = census;
  const skippedText = skipped === 0 ? "" : `, ${skipped} skipped`;
  const present = (["probed", "described", "echoed", "recorded"] as const).filter(
    (source) => fields[source] > 0,
  );
  const values = present.map((source) => `${fields[source]} ${sourceWords[source]}`).join(", ");
  return [
    ...wrapIndented(
      "Checked   ",
      `${declared} declared, ${checked} checked${skippedText}, ${unmanagedText(census)}`,
      width,
    ),
    ...(values === "" ? [] : wrapIndented("          ", `values: ${values}`, width)),
    ...probeLines(census, width),
    ...partialLines(census, width),
  ];
}
