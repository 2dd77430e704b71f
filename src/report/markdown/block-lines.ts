/** @module Formats one block of equal changes or equal drift as lines of a diff. */
import type { AddressView, BlockView, FieldView, ListView, RemarkView } from "../view/report-view.ts";
import { amount, sourceNote } from "../words.ts";
import type { Part } from "./within-budget.ts";

/** Length of a block. A short one has neither its fields nor most of its addresses, and says how many. */
type Detail = "full" | "short";

/** Addresses that a block of each length lists. */
const maxListed: { readonly [detail in Detail]: number } = { full: 50, short: 5 };

/** Blocks as parts of a section: whole if there is room, short otherwise. */
export function blockParts(blocks: readonly BlockView[]): readonly Part[] {
  return blocks.map((block) => ({
    full: [...blockLines(block, "full"), ""],
    short: [...blockLines(block, "short"), ""],
    count: block.addresses.length,
  }));
}

/** The items of a list as parts of a section. */
export function listParts({ items }: ListView): readonly Part[] {
  return items.map(({ is, name, text }) => {
    const line = is === "not declared" ? `? ${name} ${text}` : `! ${name}: ${text}`;
    return { full: [line.trimEnd()], short: [], count: 1 };
  });
}

/** Outputs as parts of a section. */
export function outputParts(outputs: readonly FieldView[]): readonly Part[] {
  return outputs.map((output) => ({ full: fieldLines(output), short: [], count: 1 }));
}

/** The lines of a block, each without a line break. The first character colours a line. */
function blockLines(block: BlockView, detail: Detail): readonly string[] {
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

/** An address with its id and place. */
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
