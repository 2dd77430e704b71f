/** @module Folds equal changes of many resources into one block. */
import type { Disruption } from "../../model/field-schema.ts";
import type { Action, Change, Guard } from "../../model/plan.ts";
import { holdsSecret } from "../../model/sealed.ts";
import type { KindNames } from "../kind-words.ts";
import { driftedFields, type FieldView, fieldsOf, uncheckedFields } from "./field-view.ts";
import { differingWords, inSentence, inValue, type OwnWords, ownWords, type Rewrite } from "./own-words.ts";
import { type PhaseView, phaseOf } from "./phase-view.ts";
import { plannedSpec } from "./planned-spec.ts";

/** One resource of a block. */
export interface AddressView {
  readonly address: string;
  readonly id?: string;
  /** The address that it had. */
  readonly previous?: string;
  readonly where?: { readonly file: string; readonly line: number };
}

/**
 * One change, or equal changes of several resources. Two changes are equal where everything but address, id and place in the
 * file is; values may differ in the resource's own name or forEach key. In a block of several, such words stand as `ADDRESS`,
 * `ID`, `NAME`, `KEY` and `PREVIOUS` where they differ. Texts are not escaped.
 */
export interface BlockView {
  /** Sorted by address; at least one. */
  readonly addresses: readonly AddressView[];
  readonly kind: string;
  readonly action: Action;
  readonly reason: string;
  readonly disruption: Disruption;
  /** The field that forces the replacement. */
  readonly forcedBy?: string;
  /** True where nothing is deleted before a backup is complete. */
  readonly backupFirst: boolean;
  /** Present where the resource is not at rest. */
  readonly phase?: PhaseView;
  readonly fields: readonly FieldView[];
  /** Changed outside, and left as they are. */
  readonly drifted: readonly FieldView[];
  /** Why it is blocked, with the way to lift each. */
  readonly guards: readonly Guard[];
  /** Paths that a binding takes from the manifest because the service does not show them. */
  readonly unchecked: readonly string[];
}

/** The blocks of these changes, each where its first change was. */
export function blocksOf(changes: readonly Change[], names: KindNames): readonly BlockView[] {
  const families = gathered(
    changes.map((change) => partOf(change, names)),
    (part) => part.shape,
  );
  const order = new Map(changes.map(({ address }, at) => [address, at]));
  const place = (members: readonly Part[]): number => order.get(members[0]?.change.address ?? "") ?? 0;
  return families
    .flatMap(equalIn)
    .sort((a, b) => place(a) - place(b))
    .map(joined);
}

/** One change on its way into a block. */
interface Part {
  readonly change: Change;
  readonly block: BlockView;
  readonly own: OwnWords;
  /** Everything but the values of its fields. */
  readonly shape: string;
  /** The values of each field, as they are and without the resource's own words. */
  readonly rows: readonly { readonly exact: string; readonly pattern: string }[];
}

function partOf(change: Change, names: KindNames): Part {
  const block = blockOf(change, names);
  const own = ownWords(change);
  const { addresses, fields, drifted, ...rest } = block;
  const rows = [...fields, ...drifted];
  const rewriteValue = inValue(own);
  const shape = {
    ...rest,
    isMoved: addresses[0]?.previous !== undefined,
    rows: rows.map(({ before: _before, after: _after, notes: _notes, ...row }) => row),
  };
  return {
    change,
    block,
    own,
    shape: textOf(shape, inSentence(own)),
    rows: rows.map(({ path, before, after, notes }) => {
      // The whole value as well: the one that is shown may be cut.
      const values = [before, after, notes, comparedValue(change, path)];
      return { exact: textOf(values, (text) => text), pattern: textOf(values, rewriteValue) };
    }),
  };
}

/** A value as text for comparison; both sides come from the same code, so that their keys have the same order. */
function textOf(value: object, rewrite: Rewrite): string {
  return JSON.stringify(value, (_, inner: unknown) => (typeof inner === "string" ? rewrite(inner) : inner));
}

/** The value that equal changes share at a path; nothing of a secret. */
function comparedValue(change: Change, path: string): unknown {
  if (change.action === "create") {
    const value = plannedSpec(change).after.get(path);
    return holdsSecret(value) ? undefined : value;
  }
  const found = change.fields.find((field) => field.path === path);
  if (found === undefined || found.secret || holdsSecret(found.before) || holdsSecret(found.after))
    return undefined;
  return [found.before, found.after];
}

/** Changes of one shape, split where their values differ. A field is compared without own words where that makes more of them equal. */
function equalIn(family: readonly Part[]): readonly (readonly Part[])[] {
  if (family.length < 2) return [family];
  const distinct = (which: "exact" | "pattern", at: number): number =>
    new Set(family.map((part) => part.rows[at]?.[which])).size;
  const compared = family[0]?.rows.map((_, at) =>
    distinct("pattern", at) < distinct("exact", at) ? ("pattern" as const) : ("exact" as const),
  );
  return gathered(family, (part) => JSON.stringify(compared?.map((which, at) => part.rows[at]?.[which])));
}

function blockOf(change: Change, names: KindNames): BlockView {
  const { address, id, previousAddress, where, forcedBy } = change;
  const phase = phaseOf(change);
  return {
    addresses: [
      {
        address,
        ...(id === undefined ? {} : { id }),
        ...(previousAddress === undefined ? {} : { previous: previousAddress }),
        ...(where === undefined ? {} : { where: { file: where.file, line: where.start.line } }),
      },
    ],
    kind: change.kind,
    action: change.action,
    reason: change.reason,
    disruption: change.disruption,
    ...(forcedBy === undefined ? {} : { forcedBy }),
    backupFirst: change.backupFirst === true,
    ...(phase === undefined ? {} : { phase }),
    fields: fieldsOf(change, names),
    drifted: driftedFields(change, names),
    guards: change.blocked,
    unchecked: uncheckedFields(change),
  };
}

function gathered(parts: readonly Part[], keyOf: (part: Part) => string): readonly (readonly Part[])[] {
  const groups = new Map<string, Part[]>();
  for (const part of parts) {
    const known = groups.get(keyOf(part));
    if (known === undefined) groups.set(keyOf(part), [part]);
    else known.push(part);
  }
  return [...groups.values()];
}

/** The block of equal changes; texts that differ have placeholders. */
function joined(members: readonly Part[]): BlockView {
  const [first, ...others] = members;
  if (first === undefined) throw new Error("a block has a change");
  if (others.length === 0) return first.block;
  const blocks = members.map((part) => part.block);
  const words = differingWords(members.map((part) => part.own));
  const [inAnySentence, inAnyValue] = [inSentence(words), inValue(words)];
  const text = (pick: (block: BlockView) => string, rewrite: Rewrite = inAnySentence): string => {
    const own = pick(first.block);
    return blocks.every((block) => pick(block) === own) ? own : rewrite(own);
  };
  const field = (of: "fields" | "drifted") =>
    first.block[of].map((row, at): FieldView => {
      const { before } = row;
      const value = (which: "before" | "after") => text((block) => block[of][at]?.[which] ?? "", inAnyValue);
      return {
        ...row,
        after: value("after"),
        ...(before === undefined ? {} : { before: value("before") }),
        notes: row.notes.map((_, note) => text((block) => block[of][at]?.notes[note] ?? "", inAnyValue)),
      };
    });
  return {
    ...first.block,
    addresses: blocks.flatMap((block) => block.addresses).sort((a, b) => (a.address < b.address ? -1 : 1)),
    reason: text((block) => block.reason),
    fields: field("fields"),
    drifted: field("drifted"),
    guards: first.block.guards.map(({ code }, at) => ({
      code,
      message: text((block) => block.guards[at]?.message ?? ""),
      lift: text((block) => block.guards[at]?.lift ?? ""),
    })),
  };
}
