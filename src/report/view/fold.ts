/** @module Folds blocks that differ only in the names of their resources into one. */
import { byAddress, parseAddress } from "../../model/address.ts";
import { shellWord } from "../../model/errors.ts";
import type { Change } from "../../model/plan.ts";
import type { BlockView, FieldView } from "./report-view.ts";

/** The block of one resource as it is compared with others. Its sentences may differ in its address and id, its values in all own words. */
interface BlockPart {
  readonly own: OwnWords;
  readonly block: BlockView;
  /** The whole value of each field, since the one that is shown may be cut; nothing of a secret. */
  readonly values: readonly unknown[];
}

/** Equal blocks, at least one, and the block of all. */
interface Folded<Part extends BlockPart> {
  readonly members: readonly Part[];
  readonly block: BlockView;
}

interface Compared<Part> {
  readonly part: Part;
  readonly at: number;
  readonly key: string;
  /** The values of each field, as they are and without own words. */
  readonly rows: readonly { readonly exact: string; readonly pattern: string }[];
}

/** The groups of equal blocks, each at the place of its first block. */
export function fold<Part extends BlockPart>(parts: readonly Part[]): readonly Folded<Part>[] {
  return [...Map.groupBy(parts.map(comparedOf), ({ key }) => key).values()]
    .flatMap(equalIn)
    .sort(([a], [b]) => (a?.at ?? 0) - (b?.at ?? 0))
    .flatMap((equal) => joined(equal.map(({ part }) => part)));
}

function comparedOf<Part extends BlockPart>(part: Part, at: number): Compared<Part> {
  const { own, block, values } = part;
  const { addresses: _, fields, ...shape } = block;
  const rows = fields.map(({ before: _before, after: _after, notes: _notes, ...row }) => row);
  const rewrite = rewriteOf(own);
  return {
    part,
    at,
    key: textOf([shape, rows], inSentence(own)),
    rows: fields.map(({ before, after, notes }, field) => {
      const compared = [before, after, notes, values[field]];
      return { exact: textOf(compared, (text) => text), pattern: textOf(compared, rewrite) };
    }),
  };
}

/** A value as text for comparison; both sides come from the same code, so that their keys have the same order. */
function textOf(value: object, rewrite: Rewrite): string {
  return JSON.stringify(value, (_, inner: unknown) => (typeof inner === "string" ? rewrite(inner) : inner));
}

/** Blocks of one shape, split if their values differ. A field is compared without own words if that makes more of them equal. */
function equalIn<Part>(family: readonly Compared<Part>[]): readonly (readonly Compared<Part>[])[] {
  if (family.length < 2) return [family];
  const distinct = (which: "exact" | "pattern", at: number): number =>
    new Set(family.map(({ rows }) => rows[at]?.[which])).size;
  const compared = family[0]?.rows.map((_, at) =>
    distinct("pattern", at) < distinct("exact", at) ? ("pattern" as const) : ("exact" as const),
  );
  const keyOf = ({ rows }: Compared<Part>): string =>
    JSON.stringify(compared?.map((which, at) => rows[at]?.[which]));
  return [...Map.groupBy(family, keyOf).values()];
}

function joined<Part extends BlockPart>(members: readonly Part[]): readonly Folded<Part>[] {
  const [first] = members;
  if (first === undefined) return [];
  const words = differingWords(members.map(({ own }) => own));
  const common = (rewrite: Rewrite, of: (block: BlockView) => string | undefined): string => {
    const [text = "", ...others] = members.map(({ block }) => of(block) ?? "");
    return others.every((other) => other === text) ? text : rewrite(text);
  };
  const sentence = (of: (block: BlockView) => string | undefined): string => common(inSentence(words), of);
  const value = (at: number, of: (field: FieldView) => string | undefined): string =>
    common(rewriteOf(words), ({ fields }) => {
      const field = fields[at];
      return field && of(field);
    });
  const { block } = first;
  return [
    {
      members,
      block: {
        ...block,
        addresses: members.flatMap((member) => member.block.addresses).sort(byAddress),
        reason: sentence(({ reason }) => reason),
        remarks: block.remarks.map((remark, at) => ({
          ...remark,
          text: sentence(({ remarks }) => remarks[at]?.text),
          ...(remark.remedy === undefined ? {} : { remedy: sentence(({ remarks }) => remarks[at]?.remedy) }),
        })),
        fields: block.fields.map((row, at) => ({
          ...row,
          after: value(at, ({ after }) => after),
          ...(row.before === undefined ? {} : { before: value(at, ({ before }) => before) }),
          notes: row.notes.map((_, note) => value(at, ({ notes }) => notes[note])),
        })),
      },
    },
  ];
}

type Rewrite = (text: string) => string;

/** Words that one resource has, with their placeholders: former address, address and id, forEach key and name. */
type OwnWords = { readonly [placeholder: string]: string | undefined };

export function ownWords({
  address,
  id,
  previousAddress,
  mayBe,
}: Pick<Change<unknown>, "address" | "id" | "previousAddress" | "mayBe">): OwnWords {
  const parts = parseAddress(address);
  const only = mayBe?.count === 1 ? mayBe.ids[0] : undefined;
  return { PREVIOUS: previousAddress, ADDRESS: address, ID: id ?? only, KEY: parts?.key, NAME: parts?.name };
}

/** The words in which these resources differ, as the first of them has them. */
function differingWords([first = {}, ...others]: readonly OwnWords[]): OwnWords {
  return Object.fromEntries(
    Object.entries(first).filter(([name, word]) => others.some((other) => other[name] !== word)),
  );
}

/** Rewrites sentences so that equal ones about other resources are equal: `--allow-destroy networks.a` and `--allow-destroy networks.b`. */
function inSentence({ KEY: _, NAME: __, ...words }: OwnWords): Rewrite {
  return rewriteOf(words);
}

/** Rewrites values; key and name are replaced as well: `cache-eu` becomes `cache-KEY`. */
function rewriteOf(words: OwnWords): Rewrite {
  const known = Object.entries(words).flatMap(([name, word]) =>
    word === undefined || word === ""
      ? []
      : [...new Set([shellWord(word), word])].map((spelling) => [spelling, name] as const),
  );
  return (text) => known.reduce((rest, [word, name]) => replaceWord(rest, word, name), text);
}

/** Replaces a word wherever it is not part of a longer one. (A pattern for each resource would take long to compile.) */
function replaceWord(text: string, word: string, name: string): string {
  const [first = "", ...rest] = text.split(word);
  return rest.reduce((before, after) => {
    const isWhole = !(endsInWord.test(before) || startsWithWord.test(after));
    return before + (isWhole ? name : word) + after;
  }, first);
}

const endsInWord = /[\p{L}\p{N}]$/u;
const startsWithWord = /^[\p{L}\p{N}]/u;
