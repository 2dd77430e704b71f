/** @module Folds things that are equal, but for their own words, into groups. */
import type { FieldView } from "./field-view.ts";
import { differingWords, inSentence, inValue, type OwnWords, type Rewrite } from "./own-words.ts";

/** A thing as it is compared with others. */
export interface Foldable<Field extends FieldView = FieldView> {
  readonly own: OwnWords;
  /** Everything but its fields that has to be equal; its sentences may differ in its address and id. */
  readonly shape: object;
  /** Its fields. Their values may differ in its own words. */
  readonly fields: readonly Field[];
  /** The whole value of each field, since the one that is shown may be cut; nothing of a secret. */
  readonly values: readonly unknown[];
}

/** Equal things. Words in which they differ stand as placeholders in their texts. */
export interface Folded<Item, Field extends FieldView = FieldView> {
  /** At least one. */
  readonly members: readonly Item[];
  readonly fields: readonly Field[];
  /** A sentence that each of them has. */
  readonly sentence: (of: (item: Item) => string) => string;
}

interface Part<Item, Field extends FieldView> extends Foldable<Field> {
  readonly item: Item;
  readonly key: string;
  /** The values of each field, as they are and without own words. */
  readonly rows: readonly { readonly exact: string; readonly pattern: string }[];
}

/** The groups of equal things, each where its first thing was. */
export function fold<Item, Field extends FieldView>(
  items: readonly Item[],
  foldable: (item: Item) => Foldable<Field>,
): readonly Folded<Item, Field>[] {
  const parts = items.map((item) => partOf(item, foldable(item)));
  const order = new Map(parts.map((part, at) => [part, at]));
  const place = ([first]: readonly Part<Item, Field>[]): number =>
    first === undefined ? 0 : (order.get(first) ?? 0);
  return grouped(parts, ({ key }) => key)
    .flatMap(equalIn)
    .sort((a, b) => place(a) - place(b))
    .map(joined);
}

function partOf<Item, Field extends FieldView>(item: Item, thing: Foldable<Field>): Part<Item, Field> {
  const { own, shape, fields, values } = thing;
  const rows = fields.map(({ before: _before, after: _after, notes: _notes, ...row }) => row);
  const rewrite = inValue(own);
  return {
    ...thing,
    item,
    key: textOf([shape, rows], inSentence(own)),
    rows: fields.map(({ before, after, notes }, at) => {
      const compared = [before, after, notes, values[at]];
      return { exact: textOf(compared, (text) => text), pattern: textOf(compared, rewrite) };
    }),
  };
}

/** A value as text for comparison; both sides come from the same code, so that their keys have the same order. */
function textOf(value: object, rewrite: Rewrite): string {
  return JSON.stringify(value, (_, inner: unknown) => (typeof inner === "string" ? rewrite(inner) : inner));
}

/** Things of one shape, split where their values differ. A field is compared without own words where that makes more of them equal. */
function equalIn<P extends Pick<Part<unknown, FieldView>, "rows">>(
  family: readonly P[],
): readonly (readonly P[])[] {
  if (family.length < 2) return [family];
  const distinct = (which: "exact" | "pattern", at: number): number =>
    new Set(family.map(({ rows }) => rows[at]?.[which])).size;
  const compared = family[0]?.rows.map((_, at) =>
    distinct("pattern", at) < distinct("exact", at) ? ("pattern" as const) : ("exact" as const),
  );
  return grouped(family, ({ rows }) => JSON.stringify(compared?.map((which, at) => rows[at]?.[which])));
}

function grouped<P>(parts: readonly P[], keyOf: (part: P) => string): readonly (readonly P[])[] {
  return [...Map.groupBy(parts, keyOf).values()];
}

function joined<Item, Field extends FieldView>(parts: readonly Part<Item, Field>[]): Folded<Item, Field> {
  const words = differingWords(parts.map(({ own }) => own));
  const [inAnySentence, inAnyValue] = [inSentence(words), inValue(words)];
  const common = (texts: readonly string[], rewrite: Rewrite): string => {
    const [first = ""] = texts;
    return texts.every((text) => text === first) ? first : rewrite(first);
  };
  const value = (at: number, of: (field: Field) => string | undefined): string =>
    common(
      parts.map(({ fields }) => {
        const field = fields[at];
        return field === undefined ? "" : (of(field) ?? "");
      }),
      inAnyValue,
    );
  const fields = parts[0]?.fields.map((row, at) => ({
    ...row,
    after: value(at, (field) => field.after),
    ...(row.before === undefined ? {} : { before: value(at, (field) => field.before) }),
    notes: row.notes.map((_, note) => value(at, ({ notes }) => notes[note])),
  }));
  return {
    members: parts.map(({ item }) => item),
    fields: fields ?? [],
    sentence: (of) =>
      common(
        parts.map(({ item }) => of(item)),
        inAnySentence,
      ),
  };
}
