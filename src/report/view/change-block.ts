/** @module Describes the changes of a plan as blocks, and the unchanged resources that are worth a look. */
import { defined } from "../../model/json.ts";
import type { Phase } from "../../model/observed.ts";
import type { Action, Change } from "../../model/plan.ts";
import type { SourceRange } from "../../model/problem.ts";
import { type ShownValue, shownFields } from "../shown-value.ts";
import { fieldsOf, leftAsIs } from "./field-view.ts";
import { fold } from "./fold.ts";
import { ownWords } from "./own-words.ts";
import type { AddressView, BlockView, RemarkView, Tone } from "./report-view.ts";

/** Sign and tone of each action. */
export const actionSigns: { readonly [action in Action]: readonly [sign: string, tone: Tone] } = {
  create: ["+", "good"],
  update: ["~", "careful"],
  replace: ["±", "bad"],
  migrate: ["⇄", "careful"],
  delete: ["-", "bad"],
  adopt: ["↳", "quiet"],
  move: ["→", "quiet"],
  forget: ["○", "quiet"],
  keep: ["=", "quiet"],
};

/** The blocks of these changes, each at the place of its first change. */
export function changeBlocks(changes: readonly Change<ShownValue>[]): readonly BlockView[] {
  return folded(changes, blockOf);
}

/** The blocks of resources without changes that are not at rest or were changed outside. `command` waits for operations in progress. */
export function noteBlocks(changes: readonly Change<ShownValue>[], command: string): readonly BlockView[] {
  const kept = changes
    .filter(({ action, phase, drift }) => action === "keep" && (phaseText(phase) !== "" || drift.length > 0))
    .sort((a, b) => (a.address < b.address ? -1 : 1));
  return folded(kept, (change) => noteOf(change, command));
}

function folded(
  changes: readonly Change<ShownValue>[],
  describe: (change: Change<ShownValue>) => BlockView,
): readonly BlockView[] {
  const parts = changes.map((change) => {
    const block = describe(change);
    return {
      own: ownWords(change),
      block,
      values: block.fields.map(({ path }) => comparedValue(change, path)),
    };
  });
  return fold(parts).map(({ block }) => block);
}

/** The value that equal changes share at a path. */
function comparedValue({ action, after, fields }: Change<ShownValue>, path: string): unknown {
  if (action === "create") return after?.[path];
  const found = fields.find((field) => field.path === path);
  return [found?.before, found?.after];
}

function blockOf(change: Change<ShownValue>): BlockView {
  const { action, previousAddress, kind, disruption, phase, waysOn, backupFirst, blocked } = change;
  const [sign, tone] = actionSigns[action];
  const moved = previousAddress === undefined || action === "move" ? "" : `, moved from ${previousAddress}`;
  const unchecked = uncheckedFields(change).map((path) => path.replace(/^config\./, ""));
  // The reason may say it already.
  const isSaid = phase !== undefined && phase.detail !== "" && change.reason.includes(phase.detail);
  const text = isSaid ? "" : phaseText(phase);
  return {
    ...{ addresses: [addressOf(change)], kind, word: action, isChange: true, sign, tone, disruption },
    reason: `${change.reason}${moved}`,
    named: change.gone === true,
    remarks: [
      ...(text === "" && waysOn === undefined
        ? []
        : [{ is: phaseIs(phase), text, ...defined({ remedy: waysOn }) }]),
      ...(backupFirst === true
        ? [
            {
              is: "backup" as const,
              text: "backed up first: nothing is deleted before the backup is complete",
            },
          ]
        : []),
      ...(unchecked.length === 0
        ? []
        : [
            {
              is: "unchecked" as const,
              text: `not shown by the service, taken from your file: ${unchecked.join(", ")}`,
            },
          ]),
      ...blocked.map(({ code, message, lift }) => ({
        ...{ is: "blocked" as const, code, text: message, remedy: lift },
      })),
    ],
    fields: fieldsOf(change),
  };
}

function noteOf(change: Change<ShownValue>, command: string): BlockView {
  const { kind, phase, waysOn } = change;
  const text = phaseText(phase);
  const is = phaseIs(phase);
  const waits = is === "pending" ? `; ${command} will wait` : "";
  const isFailed = text !== "" && is === "failed";
  const words = { failed: "failed", pending: "running", "waiting-for-person": "waiting for a person" };
  return {
    ...{ addresses: [addressOf(change)], kind, isChange: false, named: false, disruption: "none" },
    word: text === "" ? "drifted" : words[is],
    ...(isFailed ? { sign: "!", tone: "bad" } : { sign: "…", tone: "careful" }),
    reason: text === "" ? leftAsIs : `${text}${waits}`,
    remarks: waysOn === undefined ? [] : [{ is, text: "", remedy: waysOn }],
    // The reason says it once for all fields.
    fields: fieldsOf(change).map((field) =>
      text === "" ? { ...field, notes: field.notes.filter((note) => note !== leftAsIs) } : field,
    ),
  };
}

/** Fields that a binding takes from the manifest: the service does not show them, so they were not checked. */
function uncheckedFields({ action, before, after }: Change<ShownValue>): readonly string[] {
  if (action !== "adopt") return [];
  const seen = new Set(shownFields(before).map(([path]) => path));
  return shownFields(after).flatMap(([path]) => (seen.has(path) ? [] : [path]));
}

/** A part of a sentence: `still DEPLOYING`, `the service says FAILED`; empty if the resource is at rest. */
function phaseText(phase: Phase | undefined): string {
  if (phase?.is === "failed") return `the service says ${phase.detail}`;
  if (phase?.is === "pending") return `still ${phase.detail}`;
  return phase?.is === "waiting-for-person" ? `waits for a person: ${phase.detail}` : "";
}

function phaseIs(
  phase: Phase | undefined,
): Exclude<RemarkView["is"], "backup" | "unchecked" | "blocked" | "event"> {
  return phase?.is === "pending" || phase?.is === "waiting-for-person" ? phase.is : "failed";
}

/** The address of a change or of drift with its id and its place. */
export function addressOf({
  address,
  id,
  previousAddress,
  where,
}: {
  readonly address: string;
  readonly id?: string;
  readonly previousAddress?: string;
  readonly where?: SourceRange;
}): AddressView {
  return {
    address,
    ...defined({ id, previous: previousAddress }),
    ...(where === undefined ? {} : { where: `${where.file}:${where.start.line}` }),
  };
}
