/** @module Reports the results of `import --all`: written, left out, not read. */
import type { LeftOut } from "../../model/kind.ts";
import { escapeText } from "../../report/escape.ts";
import { amount } from "../../report/words.ts";
import type { Written } from "./written-manifest.ts";

/** Lines about objects that were not read, at most 10; the manifest names all of them. */
export function unreadLines(leftOut: readonly LeftOut[]): readonly string[] {
  const lines = leftOut.map(
    ({ what, reason }) => `left out ${escapeText(what, 200)}: ${escapeText(reason, 400)}`,
  );
  const rest = lines.length - 10;
  return rest <= 0 ? lines : [...lines.slice(0, 10), `and ${rest} more, which the manifest names`];
}

/** Lines about objects that became comments, at most 5: a service may have hundreds. */
export function leftOutLines({ leftOut }: Written): readonly string[] {
  const lines = [...leftOut].map(
    ([address, reason]) => `left out ${escapeText(address, 300)}: ${escapeText(reason, 400)}`,
  );
  const rest = lines.length - 5;
  return rest <= 0 ? lines : [...lines.slice(0, 5), `and ${rest} more, which are comments in the manifest`];
}

/** Number of resources that were written and left out. */
export function writtenText({ declared, leftOut }: Written): string {
  return `${amount(declared, "resource")} written${leftOut.size === 0 ? "" : `, ${leftOut.size} left out as comments`}`;
}
