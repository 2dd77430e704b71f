/** @module Describes the changes of a plan as blocks, with their fields; the unchanged resources that are worth a look; and outputs. */
import { byAddress, twinIn } from "../../model/address.ts";
import type { FieldDrift } from "../../model/drift.ts";
import { defined } from "../../model/json.ts";
import type { Phase } from "../../model/observed.ts";
import type { Action, Change, FieldChange, OutputChange, Step } from "../../model/plan.ts";
import { sensitive } from "../../model/sealed.ts";
import {
  knownAfterApply,
  type RedactedChange,
  type RedactedPlan,
  type RedactedValue,
  redactedFields,
  sameRedacted,
} from "../redact.ts";
import { sourceNote } from "../words.ts";
import { fold, ownWords } from "./fold.ts";
import type { AddressView, BlockView, FieldRole, FieldView, RemarkView, Tone } from "./report-view.ts";

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

type Verbs = readonly Pick<Step<unknown>, "address" | "verb">[];

/** The blocks of these changes, each at the place of its first change. A stopped object that is started for an update says so. */
export function changeBlocks(steps: Verbs, changes: readonly RedactedChange[]): readonly BlockView[] {
  const verbs = new Set(steps.map(({ address, verb }) => `${address} ${verb}`));
  return folded(changes, (change) => {
    const isStarted = ["start", "stop"].every((verb) => verbs.has(`${change.address} ${verb}`));
    const reason = `${change.reason}; started for that, and stopped again`;
    return blockOf(isStarted ? { ...change, reason } : change);
  });
}

/** The blocks of resources without changes that are not at rest, were changed outside, or are kept by a migration. `command` waits for operations in progress. */
export function noteBlocks(changes: readonly RedactedChange[], command: string): readonly BlockView[] {
  const kept = changes
    .filter(({ action, address, phase, drift }) => {
      const isQuiet = phaseText(phase) === "" && drift.length === 0 && twinIn(address) === undefined;
      return action === "keep" && !isQuiet;
    })
    .sort(byAddress);
  return folded(kept, (change) => noteOf(change, command));
}

function folded(changes: readonly RedactedChange[], describe: typeof blockOf): readonly BlockView[] {
  const parts = changes.map((change) => {
    const block = describe(change);
    const values = block.fields.map(({ path }) => comparedValue(change, path));
    return { own: ownWords(change), block, values };
  });
  return fold(parts).map(({ block }) => block);
}

/** The value that equal changes share at a path. */
function comparedValue({ action, after, fields }: RedactedChange, path: string): unknown {
  if (action === "create") return after?.[path];
  const found = fields.find((field) => field.path === path);
  return [found?.before, found?.after];
}

function blockOf(change: RedactedChange): BlockView {
  const { action, previousAddress, kind, disruption, phase, waysOn, backupFirst, blocked } = change;
  const [sign, tone] = actionSigns[action];
  const moved = previousAddress === undefined || action === "move" ? "" : `, moved from ${previousAddress}`;
  const unchecked = uncheckedFields(change).map((path) => path.replace(/^config\./, ""));
  // The reason may say it already.
  const isSaid = phase !== undefined && phase.detail !== "" && change.reason.includes(phase.detail);
  const text = isSaid ? "" : phaseText(phase);
  const remarks: RemarkView[] = [];
  if (text !== "" || waysOn !== undefined)
    remarks.push({ is: phaseIs(phase), text, ...defined({ remedy: waysOn }) });
  const started = phase?.is === "stopped" ? "started, since a backup needs that, and " : "";
  const saved = `${started}backed up first: nothing is deleted before the backup is complete`;
  if (backupFirst === true) remarks.push({ is: "backup", text: saved });
  const unseen = `not shown by the service, taken from your file: ${unchecked.join(", ")}`;
  if (unchecked.length > 0) remarks.push({ is: "unchecked", text: unseen });
  for (const { code, message, lift } of blocked)
    remarks.push({ is: "blocked", code, text: message, remedy: lift });
  return {
    addresses: [addressOf(change)],
    word: action,
    isChange: true,
    ...{ kind, sign, tone, disruption, remarks },
    reason: `${change.reason}${moved}`,
    named: change.gone === true,
    fields: fieldsOf(change),
  };
}

function noteOf(change: RedactedChange, command: string): BlockView {
  const { kind, phase, drift, waysOn } = change;
  const text = phaseText(phase);
  const is = phaseIs(phase);
  const waits = is === "pending" ? `; ${command} will wait` : "";
  const isFailed = text !== "" && is === "failed";
  const words = { failed: "failed", pending: "running", "waiting-for-person": "waiting for a person" };
  const kept = { sign: "=", tone: "quiet", word: "kept", reason: change.reason } as const;
  return {
    ...{ addresses: [addressOf(change)], kind, isChange: false, named: false, disruption: "none" },
    word: text === "" ? "drifted" : words[is],
    ...(isFailed ? { sign: "!", tone: "bad" } : { sign: "…", tone: "careful" }),
    reason: text === "" ? leftAsIs : `${text}${waits}`,
    ...(text === "" && drift.length === 0 ? kept : {}),
    remarks: waysOn === undefined ? [] : [{ is, text: "", remedy: waysOn }],
    // The reason says it once for all fields.
    fields: fieldsOf(change).map((field) =>
      text === "" ? { ...field, notes: field.notes.filter((note) => note !== leftAsIs) } : field,
    ),
  };
}

/** Fields that a binding takes from the manifest: the service does not show them, so they were not checked. */
function uncheckedFields({ action, before, after }: RedactedChange): readonly string[] {
  if (action !== "adopt") return [];
  const seen = new Set(redactedFields(before).map(([path]) => path));
  return redactedFields(after).flatMap(([path]) => (seen.has(path) ? [] : [path]));
}

/** A part of a sentence: `still DEPLOYING`, `the service says FAILED`; empty if the resource is at rest. */
function phaseText(phase: Phase | undefined): string {
  if (phase?.is === "failed") return `the service says ${phase.detail}`;
  if (phase?.is === "pending") return `still ${phase.detail}`;
  return phase?.is === "waiting-for-person" ? `waits for a person: ${phase.detail}` : "";
}

function phaseIs(phase: Phase | undefined): "pending" | "waiting-for-person" | "failed" {
  return phase?.is === "pending" || phase?.is === "waiting-for-person" ? phase.is : "failed";
}

/** The address of a change or of drift with its id and its place. */
export function addressOf({
  address,
  id,
  previousAddress: previous,
  where,
}: Pick<Change<unknown>, "address" | "id" | "previousAddress" | "where">): AddressView {
  return { address, ...defined({ id, previous, where: where && `${where.file}:${where.start.line}` }) };
}

/** The note on a change from outside that apply does not undo. */
const leftAsIs = "changed outside, left as it is";

/** The fields that a change sets, those that force a replacement first, and those that were changed outside and stay; of a new resource all. */
function fieldsOf(change: RedactedChange): readonly FieldView[] {
  const rank = ({ effect }: FieldChange<RedactedValue>): number => (effect === "replace" ? 0 : 1);
  const set =
    change.action === "create"
      ? redactedFields(change.after).map(
          ([path, { text }]) => ({ path, role: "new", after: text, notes: [] }) as const,
        )
      : change.fields.toSorted((a, b) => rank(a) - rank(b)).map((field) => changedField(field, change));
  return [...set, ...driftedFields(change)];
}

export function changedField(field: FieldChange<RedactedValue>, change: RedactedChange): FieldView {
  const role = field.effect === "replace" ? "replaces" : "changed";
  return { ...fieldView(field, role), notes: notesOf(field, change) };
}

/** The fields that were changed outside and that the change leaves as they are. */
export function driftedFields({ fields, drift }: RedactedChange): readonly FieldView[] {
  const set = new Set(fields.map(({ path }) => path));
  return drift
    .filter(({ path }) => !set.has(path))
    .map((field) => ({ ...fieldView(field, "drifted"), notes: [field.wayOut ?? leftAsIs] }));
}

/** Follows the name of an object that is replaced by another of that name. */
const newId = " (new id after apply)";

function fieldView(field: FieldChange<RedactedValue>, role: FieldRole): Omit<FieldView, "notes"> {
  const { path, before, after, source, secret } = field;
  // The name stays; the object that it names is replaced.
  const isRenewed = role !== "drifted" && sameRedacted(before, after);
  return {
    path,
    role,
    before: before?.text ?? (secret ? sensitive : "(not known)"),
    after: `${after?.text ?? (secret ? sensitive : "(no longer managed)")}${isRenewed ? newId : ""}`,
    ...(secret ? {} : defined({ source })),
  };
}

function notesOf(field: FieldChange<RedactedValue>, change: RedactedChange): readonly string[] {
  const drifted = change.drift.find((drift) => drift.path === field.path);
  const isReverted = sameRedacted(drifted?.before, field.after);
  const was = drifted?.before === undefined || field.secret ? "" : `, was ${drifted.before.text}`;
  const disruption =
    field.disruption === "none" || field.effect === "replace" ? [] : [field.disruption.replace("-", " ")];
  return [
    ...(field.effect === "replace" ? ["forces replacement"] : disruption),
    ...(field.via === "database" ? ["set by hand, set back in the database"] : []),
    ...(drifted === undefined || field.via === "database" ? [] : [`changed outside${isReverted ? "" : was}`]),
  ];
}

const driftRoles = { outside: "drifted", ours: "unapplied", cosmetic: "unimportant" } as const;

/** One field of a drift report: applied and seen if the world has changed, seen and declared if the manifest has. */
export function driftField(field: FieldDrift<RedactedValue>): FieldView {
  const { path, class: is, reason, applied, seen, declared, secret } = field;
  const source = secret || field.source === "recorded" ? undefined : field.source;
  const isOurs = is === "ours";
  const [before, after] = isOurs ? [seen ?? applied, declared] : [applied, seen];
  const isRenewed = isOurs && sameRedacted(before, after);
  const isThird = is === "outside" && !secret && declared !== undefined && applied !== undefined;
  const isPlain = reason === "changed outside" || reason === "changed in the manifest";
  return {
    path,
    role: driftRoles[is],
    before: before?.text ?? "(none)",
    after: `${after?.text ?? "(none)"}${isRenewed ? newId : ""}`,
    ...defined(isOurs ? { source } : { afterSource: source }),
    notes: [
      ...(isThird && declared.text !== applied.text ? [`declared ${declared.text}`] : []),
      ...(isPlain ? [] : [reason]),
    ],
  };
}

/** One field on one line: `config.name: "orders" → "renamed" (echoed back), declared "third"`. */
export function fieldText({ path, before, after, source, afterSource, notes }: FieldView): string {
  const from = before === undefined ? "" : `${before}${sourceNote(source)} → `;
  return [`${path}: ${from}${after}${sourceNote(afterSource)}`, ...notes].join(", ");
}

/** The outputs that a plan changes or cannot read, sorted by name. */
export function outputsOf({ outputs }: Pick<RedactedPlan, "outputs">): readonly FieldView[] {
  return Object.entries(outputs)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .flatMap(([name, output]) => outputOf(name, output) ?? []);
}

function outputOf(path: string, output: OutputChange<RedactedValue>): FieldView | undefined {
  const { action, before, after, unknown, missing } = output;
  const text = (value: RedactedValue | undefined): string => value?.text ?? "(none)";
  const notes: readonly string[] = [];
  if (action === "delete") return { path, role: "removed", before: text(before), after: "(removed)", notes };
  if (missing !== undefined)
    return { path, role: "drifted", after: before?.text ?? "(not known)", notes: [missing] };
  const next = unknown && after === undefined ? knownAfterApply : text(after);
  if (action === "create") return { path, role: "new", after: next, notes };
  if (action !== "update") return undefined;
  return { path, role: "changed", before: text(before), after: next, notes };
}
