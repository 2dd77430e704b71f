/** @module Folds equal drift of many resources into one block. */
import type { AuditEvent, DriftClass, Happening, ResourceDrift } from "../../model/drift.ts";
import type { KindNames } from "../kind-words.ts";
import type { AddressView } from "./block-view.ts";
import { type DriftFieldView, driftFieldView } from "./drift-field-view.ts";
import { differingWords, inSentence, ownWords } from "./own-words.ts";

/** One resource that differs, or several in which the same has happened. In a block of several their ids stand as `ID`. */
export interface DriftBlockView {
  /** Sorted by address; at least one. */
  readonly addresses: readonly AddressView[];
  readonly kind: string;
  readonly class: DriftClass;
  readonly what: Happening;
  readonly reason: string;
  /** The earliest and the latest time at which one of them was last seen right. */
  readonly since?: readonly [earliest: string, latest: string];
  readonly events: readonly AuditEvent[];
  /** In a block of one each field has its place among its notes. */
  readonly fields: readonly DriftFieldView[];
}

/** The blocks of these resources, each where its first resource was. */
export function driftBlocks(
  resources: readonly ResourceDrift[],
  names: KindNames,
): readonly DriftBlockView[] {
  const blocks = new Map<
    string,
    { readonly members: ResourceDrift[]; readonly fields: readonly DriftFieldView[] }
  >();
  for (const resource of resources) {
    const fields = resource.fields.map((field) => driftFieldView(field, resource, names));
    const key = keyOf(resource, fields);
    const known = blocks.get(key);
    if (known === undefined) blocks.set(key, { members: [resource], fields });
    else known.members.push(resource);
  }
  return [...blocks.values()].flatMap(({ members, fields }) => blockOf(members, fields));
}

/** Everything that has to be equal: the whole values as well, since the ones that are shown may be cut. */
function keyOf(resource: ResourceDrift, fields: readonly DriftFieldView[]): string {
  const { kind, class: is, what, reason, events } = resource;
  const shown = fields.map(({ where: _, ...field }) => field);
  const values = resource.fields.map(({ secret, applied, seen, declared }) =>
    secret ? [] : [applied, seen, declared],
  );
  return JSON.stringify([kind, is, what, inSentence(ownWords(resource))(reason), events, shown, values]);
}

function blockOf(
  members: readonly ResourceDrift[],
  fields: readonly DriftFieldView[],
): readonly DriftBlockView[] {
  const [first] = members;
  if (first === undefined) return [];
  const words = differingWords(members.map((member) => ownWords(member)));
  const isOne = members.length === 1;
  const times = members.flatMap(({ since }) => since ?? []).sort();
  const [earliest, latest] = [times[0], times.at(-1)];
  const { kind, class: is, what, reason, events } = first;
  return [
    {
      addresses: members.map(addressOf).sort((left, right) => (left.address < right.address ? -1 : 1)),
      ...{ kind, class: is, what, events },
      reason: isOne ? reason : inSentence(words)(reason),
      ...(is !== "outside" || earliest === undefined || latest === undefined
        ? {}
        : { since: [earliest, latest] as const }),
      fields: isOne ? fields.map((field) => withPlace(field, first)) : fields,
    },
  ];
}

function addressOf({ address, id, where }: ResourceDrift): AddressView {
  return {
    address,
    ...(id === undefined ? {} : { id }),
    ...(where === undefined ? {} : { where: { file: where.file, line: where.start.line } }),
  };
}

function withPlace(field: DriftFieldView, { where }: ResourceDrift): DriftFieldView {
  const at = field.where;
  if (at === undefined) return field;
  const place = at.file === where?.file ? `line ${at.start.line}` : `${at.file}:${at.start.line}`;
  return { ...field, notes: [place, ...field.notes] };
}
