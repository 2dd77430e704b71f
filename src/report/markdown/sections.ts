/** @module Makes the sections of reports in Markdown, unfolded and folded, and their tables. */
import type { Census } from "../../model/plan.ts";
import { partialText } from "../partial-lists.ts";
import { incompleteText, probeTexts } from "../probe-census.ts";
import { censusMeanings } from "../words.ts";
import { codeSpan, type Detail, fence } from "./block-lines.ts";
import type { Part, Section } from "./within-budget.ts";

/** Bytes of a report, unless other ones are asked for. */
export const reportBytes = 60_000;

/** A section that is seen without opening anything. `command` shows what it leaves out. */
export function openSection({
  title,
  note,
  count,
  parts,
  command,
}: {
  readonly title: string;
  readonly note: string;
  readonly count: number;
  readonly parts: readonly Part[];
  readonly command: string;
}): Section {
  return {
    parts,
    render: (lines, leftOut) =>
      [`### ${title} (${count})`, ...(note === "" ? [] : [note]), ...body(lines, leftOut, command)].join(
        "\n\n",
      ),
  };
}

/** A section in `<details>`. `command` shows what it leaves out. */
export function foldedSection(title: string, parts: readonly Part[], command: string): Section {
  const count = parts.reduce((sum, part) => sum + part.count, 0);
  return {
    parts,
    render: (lines, leftOut) =>
      [
        `<details><summary>${title} (${count})</summary>`,
        ...body(lines, leftOut, command),
        "</details>",
      ].join("\n\n"),
  };
}

function body(lines: readonly string[], leftOut: number, command: string): readonly string[] {
  const last = lines.at(-1) === "" ? lines.slice(0, -1) : lines;
  return [
    ...(last.length === 0 ? [] : [fence("diff", last)]),
    ...(leftOut === 0
      ? []
      : [`${leftOut} more left out: the report is too long. ${codeSpan(command, 500)} shows all.`]),
  ];
}

/** Equal blocks as parts of a section: whole where there is room, short where there is not. */
export function blockParts<Block extends { readonly addresses: readonly unknown[] }>(
  blocks: readonly Block[],
  lines: (block: Block, detail: Detail) => readonly string[],
): readonly Part[] {
  return blocks.map((block) => ({
    full: [...lines(block, "full"), ""],
    short: [...lines(block, "short"), ""],
    count: block.addresses.length,
  }));
}

/** Says why a report is incomplete; nothing where it is whole. */
export function incompleteNote(complete: boolean, census: Census, unread = 0): readonly string[] {
  return complete ? [] : [`Incomplete: ${incompleteText(census, unread)}.`];
}

/** Names the lists that may not be all; nothing where every one was whole. */
export function partialNote(census: Census): readonly string[] {
  const text = partialText(census);
  return text === undefined ? [] : [codeSpan(text, 700)];
}

/** The number of checked resources, and the sources of their values. */
export function censusTable({ declared, checked, skipped, unmanaged, fields }: Census): string {
  const meanings = censusMeanings(fields).join(" ");
  const values = {
    "from the database": fields.probed,
    "from the service": fields.described,
    "echoed back": fields.echoed,
    remembered: fields.recorded,
  };
  const counts = table(Object.entries({ declared, checked, skipped, unmanaged, ...values }));
  return meanings === "" ? counts : `${counts}\n\n${meanings}`;
}

/** A table of numbers with one row. */
export function table(columns: readonly (readonly [name: string, count: number])[]): string {
  const row = (cells: readonly (string | number)[]): string => `| ${cells.join(" | ")} |`;
  return [
    row(columns.map(([name]) => name)),
    row(columns.map(() => "---:")),
    row(columns.map(([, count]) => count)),
  ].join("\n");
}

/** The databases that were asked and why others were not, a list item each; nothing where there was none to ask. */
export function probeParagraph(census: Census): readonly string[] {
  const texts = probeTexts(census);
  return texts.length === 0 ? [] : [texts.map((text) => `- ${codeSpan(text, 700)}`).join("\n")];
}
