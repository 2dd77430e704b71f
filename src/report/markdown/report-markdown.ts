/** @module Formats a plan, a drift report, or the error that kept it from being made, as Markdown for a pull request, an issue or the summary of a step. */
import { type GraphformError, isManifestError } from "../../model/errors.ts";
import { errorText, failureWords, problemsText } from "../problems.ts";
import { makePalette } from "../typeset.ts";
import {
  type AddressView,
  type BlockView,
  type CountView,
  type FieldView,
  type GroupView,
  importTitle,
  type ListView,
  type RemarkView,
  type ReportView,
} from "../view/report-view.ts";
import { amount, sourceNote } from "../words.ts";
import { codeSpan, fence, marker, type Part, type Section, withinBudget } from "./within-budget.ts";

/** Bytes of a report unless others are asked for; GitHub takes 65 536 characters in a comment. */
export const reportBytes = 60_000;

/** The report as Markdown, the disruptive part unfolded. Foreign text stands in code alone. Parts that do not fit into `bytes` are counted. */
export function reportMarkdown(view: ReportView, bytes: number = reportBytes): string {
  const head = headOf(view);
  const foot = footOf(view);
  const room = bytes - Buffer.byteLength(`${head}\n\n${foot}\n`) - 4;
  const sections = withinBudget(sectionsOf(view), room).filter((section) => section !== "");
  return `${[head, ...sections, foot].join("\n\n")}\n`;
}

function headOf({ report, title, name, verdict, seen, incomplete, counts, summary }: ReportView): string {
  return [
    marker(report, name),
    `## ${title} ${codeSpan(name, 100)}`,
    `**${verdict}** ${seen}`.trimEnd(),
    ...(incomplete === "" ? [] : [`Incomplete: ${incomplete}.`]),
    table(counts),
    ...(summary === "" ? [] : [summary]),
  ].join("\n\n");
}

function sectionsOf(view: ReportView): readonly Section[] {
  const { affected, groups, lists, outputs, imports, whole } = view;
  const grouped = (of: boolean): readonly Section[] =>
    groups
      .filter(({ isOpen }) => isOpen === of)
      .map((group) => section(group, blockParts(group.blocks), whole));
  const listed = (of: boolean): readonly Section[] =>
    lists
      .filter(({ isOpen }) => isOpen === of)
      .map(({ title, items, remedy, isOpen }) => {
        const note = remedy === undefined ? "" : `Way out: ${remedy}.`;
        return section({ title, note, count: items.length, isOpen }, items.map(listPart), whole);
      });
  const outputParts = outputs.map((output) => ({ full: fieldLines(output), short: [], count: 1 }));
  return [
    ...affected.map(({ title, addresses }) => namesSection(title, addresses, whole)),
    ...grouped(true),
    ...listed(true),
    ...grouped(false),
    {
      parts: imports.length === 0 ? [] : [{ full: imports, short: [], count: imports.length - 1 }],
      render: (lines: readonly string[], leftOut: number) =>
        lines.length === 0
          ? `${importTitle}: ${codeSpan(whole, 500)} has all ${leftOut}.`
          : `${importTitle}:\n\n${fence("yaml", lines)}`,
    },
    ...listed(false),
    section({ title: "Outputs", note: "", count: outputs.length, isOpen: false }, outputParts, whole),
  ].filter(({ parts }) => parts.length > 0);
}

/** Everything that is disrupted in one way, by name: it comes before any detail. */
function namesSection(title: string, addresses: readonly string[], whole: string): Section {
  return {
    parts: addresses.map((address) => ({ full: [`${codeSpan(address)},`], short: [], count: 1 })),
    render: (spans, leftOut) => {
      const names = spans.join(" ").replace(/,$/, "");
      const more = leftOut === 0 ? "" : ` and ${leftOut} more: ${codeSpan(whole, 500)} has all.`;
      return `**${title} (${addresses.length}):** ${names}${more}`;
    },
  };
}

/** A section that is seen without a click, or one in `<details>`. `whole` is the command that shows what is left out. */
function section(
  { title, note, count, isOpen }: Pick<GroupView, "title" | "note" | "count" | "isOpen">,
  parts: readonly Part[],
  whole: string,
): Section {
  const words = `${title} (${count})`;
  return {
    parts,
    render: (lines, leftOut) => {
      const shown = lines.at(-1) === "" ? lines.slice(0, -1) : lines;
      return [
        isOpen ? `### ${words}` : `<details><summary>${words}</summary>`,
        ...(note === "" ? [] : [note]),
        ...(shown.length === 0 ? [] : [fence("diff", shown)]),
        ...(leftOut === 0
          ? []
          : [`${leftOut} more left out: the report is too long. ${codeSpan(whole, 500)} shows all.`]),
        ...(isOpen ? [] : ["</details>"]),
      ].join("\n\n");
    },
  };
}

function footOf({ census, impact, next, remedies, fingerprint }: ReportView): string {
  const list = (items: readonly string[]): readonly string[] =>
    items.length === 0 ? [] : [items.map((item) => `- ${item}`).join("\n")];
  const command = (given: string | undefined): string => (given === undefined ? "" : codeSpan(given, 500));
  return [
    table([...census.resources, ...census.values]),
    ...(census.meanings.length === 0 ? [] : [census.meanings.join(" ")]),
    ...list(census.notes.map((note) => codeSpan(note, 700))),
    ...(impact === "" ? [] : [`Impact: ${impact}.`]),
    ...list(remedies.map(({ command: given, text }) => `${command(given)} ${text}`.trimStart())),
    ...(fingerprint === ""
      ? []
      : [
          `${next.command === undefined ? "" : `Next: ${command(next.command)}. `}${next.text}`,
          `Plan fingerprint: ${codeSpan(fingerprint, 100)}`,
        ]),
  ].join("\n\n");
}

function table(counts: readonly CountView[]): string {
  const row = (cells: readonly (string | number)[]): string => `| ${cells.join(" | ")} |`;
  return [
    row(counts.map(({ word }) => word)),
    row(counts.map(() => "---:")),
    row(counts.map(({ count }) => count)),
  ].join("\n");
}

/** Problems that the report lists. */
const maxProblems = 20;

/** Longest line, in characters; a line of an error is not longer, but that of a file may be. */
const maxLength = 1000;

/** The error as Markdown, under the marker of the report that it replaces. `name` is that of the manifest, empty if it could not be read. */
export function failureMarkdown(error: GraphformError, name: string, report: "plan" | "drift"): string {
  const page = { palette: makePalette(false), width: 100 };
  const problems = isManifestError(error) ? error.problems : [];
  const left = problems.length - maxProblems;
  const { title, text } = failureWords[report];
  const written = problems.length > 0 ? problemsText(problems.slice(0, maxProblems), page) : errorText(error);
  const lines = written
    .trimEnd()
    .split("\n")
    .map((line) => [...line].slice(0, maxLength).join(""));
  return `${[
    marker(report, name),
    `## ${title}`,
    `**${text}**`,
    fence("", lines),
    ...(left > 0 ? [`${amount(left, "problem")} more: \`graphform validate\` shows all.`] : []),
  ].join("\n\n")}\n`;
}

/** Addresses that a block of each length lists. A short one has no fields, and says how many. */
const maxListed = { full: 50, short: 5 };

/** Blocks as parts of a section: whole if there is room, short otherwise. */
function blockParts(blocks: readonly BlockView[]): readonly Part[] {
  return blocks.map((block) => ({
    full: [...blockLines(block, "full"), ""],
    short: [...blockLines(block, "short"), ""],
    count: block.addresses.length,
  }));
}

function listPart({ is, name, text }: ListView["items"][number]): Part {
  const line = is === "not declared" ? `? ${name} ${text}` : `! ${name}: ${text}`;
  return { full: [line.trimEnd()], short: [], count: 1 };
}

/** The lines of a block, each without a line break. The first character colours a line. */
function blockLines(block: BlockView, detail: keyof typeof maxListed): readonly string[] {
  const { word, addresses, reason, disruption, remarks, fields, named } = block;
  const [first, ...others] = addresses;
  const isOne = first !== undefined && others.length === 0;
  const felt = disruption === "none" ? "" : ` · ${disruption.replace("-", " ")}`;
  const lines = [
    `# ${reason}${felt}`,
    ...remarks.flatMap(remarkLines),
    ...(detail === "full" || fields.length === 0
      ? fields.flatMap(fieldLines)
      : [`# ${amount(fields.length, "field")} left out`]),
  ];
  if (isOne) return [`@@ ${word} ${addressText(first)} @@`, ...lines];
  const hasPlaceholder = lines.some((line) => /\b(?:ADDRESS|ID|NAME|KEY|PREVIOUS)\b/.test(line));
  const max = named && detail === "full" ? addresses.length : maxListed[detail];
  const left = addresses.length - max;
  return [
    `@@ ${word} ${amount(addresses.length, "resource")} @@`,
    ...addresses.slice(0, max).map((address) => `  ${addressText(address)}`),
    ...(left > 0 ? [`  and ${left} more`] : []),
    ...(hasPlaceholder ? ["# words in capitals stand for those of each resource"] : []),
    ...lines,
  ];
}

function remarkLines({ is, text, remedy }: RemarkView): readonly string[] {
  const sign = is === "event" || is === "backup" ? "#" : is === "blocked" ? "! blocked:" : "!";
  return [
    ...(text === "" ? [] : [`${sign} ${text}`]),
    ...(remedy === undefined ? [] : [`! way out: ${remedy}`]),
  ];
}

function addressText({ address, id, previous, where }: AddressView): string {
  const parts = [id && `(${id})`, previous && `from ${previous}`, where];
  return [address, ...parts.filter((part) => part !== undefined)].join(" ");
}

function fieldLines({ path, role, before, after, source, afterSource, notes }: FieldView): readonly string[] {
  const note = notes.length === 0 ? "" : `  # ${notes.join(", ")}`;
  const from = before === undefined ? undefined : `${before}${sourceNote(source)}`;
  if (role === "drifted" || role === "unimportant")
    return [`! ${path}: ${from === undefined ? "" : `${from} → `}${after}${sourceNote(afterSource)}${note}`];
  return [
    ...(from === undefined ? [] : [`- ${path}: ${from}`]),
    ...(role === "removed" ? [] : [`+ ${path}: ${after}${note}`]),
  ];
}
