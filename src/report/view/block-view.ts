/** @module Folds equal changes of many resources into one block. */

import type { Disruption } from "../../model/field-schema.ts";
import { defined } from "../../model/json.ts";
import type { Action, Change, Guard } from "../../model/plan.ts";
import type { ShownValue } from "../shown-value.ts";
import { driftedFields, type FieldView, fieldsOf, uncheckedFields } from "./field-view.ts";
import { type Folded, fold } from "./fold.ts";
import { ownWords } from "./own-words.ts";
import { type PhaseView, phaseOf } from "./phase-view.ts";

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
  /** The objects were deleted outside graphform: every one of them is named wherever the block is shown. */
  readonly gone: boolean;
  /** True where nothing is deleted before a backup is complete. */
  readonly backupFirst: boolean;
  /** Present where the resource is not at rest. */
  readonly phase?: PhaseView;
  /** The ways on from resources that have failed. */
  readonly waysOn?: string;
  readonly fields: readonly FieldView[];
  /** Changed outside, and left as they are. */
  readonly drifted: readonly FieldView[];
  /** Why it is blocked, with the way to lift each. */
  readonly guards: readonly Guard[];
  /** Paths that a binding takes from the manifest because the service does not show them. */
  readonly unchecked: readonly string[];
}

/** The blocks of these changes, each where its first change was. */
export function blocksOf(changes: readonly Change<ShownValue>[]): readonly BlockView[] {
  const parts = changes.map((change) => ({ change, block: blockOf(change) }));
  return fold(parts, ({ change, block }) => {
    const { addresses, fields, drifted, ...shape } = block;
    const rows = [...fields, ...drifted];
    const isMoved = change.previousAddress !== undefined;
    return {
      own: ownWords(change),
      shape: { ...shape, isMoved, drifted: drifted.length },
      fields: rows,
      values: rows.map(({ path }) => comparedValue(change, path)),
    };
  }).flatMap(joined);
}

/** The value that equal changes share at a path. */
function comparedValue({ action, after, fields }: Change<ShownValue>, path: string): unknown {
  if (action === "create") return after?.[path];
  const found = fields.find((field) => field.path === path);
  return [found?.before, found?.after];
}

function blockOf(change: Change<ShownValue>): BlockView {
  const { address, id, previousAddress, where, forcedBy, waysOn } = change;
  const phase = phaseOf(change);
  return {
    addresses: [
      {
        address,
        ...defined({ id, previous: previousAddress }),
        ...(where === undefined ? {} : { where: { file: where.file, line: where.start.line } }),
      },
    ],
    kind: change.kind,
    action: change.action,
    reason: change.reason,
    disruption: change.disruption,
    ...defined({ forcedBy }),
    gone: change.gone === true,
    backupFirst: change.backupFirst === true,
    ...defined({ phase, waysOn }),
    fields: fieldsOf(change),
    drifted: driftedFields(change),
    guards: change.blocked,
    unchecked: uncheckedFields(change),
  };
}

/** The block of equal changes; texts that differ have placeholders. */
function joined({ members, fields, sentence }: Folded<{ readonly block: BlockView }>): readonly BlockView[] {
  const [first] = members;
  if (first === undefined) return [];
  const { block } = first;
  const own = block.fields.length;
  return [
    {
      ...block,
      addresses: members
        .flatMap((member) => member.block.addresses)
        .sort((a, b) => (a.address < b.address ? -1 : 1)),
      reason: sentence((member) => member.block.reason),
      ...(block.waysOn === undefined ? {} : { waysOn: sentence((member) => member.block.waysOn ?? "") }),
      fields: fields.slice(0, own),
      drifted: fields.slice(own),
      guards: block.guards.map(({ code }, at) => ({
        code,
        message: sentence((member) => member.block.guards[at]?.message ?? ""),
        lift: sentence((member) => member.block.guards[at]?.lift ?? ""),
      })),
    },
  ];
}
