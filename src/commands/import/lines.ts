/** @module Tells what `import --all` wrote and what it left out. */
import type { LeftOut } from "../../model/kind.ts";
import { amount } from "../../report/amounts.ts";
import { escapeText } from "../../report/escape.ts";
import type { Written } from "./written-manifest.ts";

/** What was not looked at: all of it stands in the manifest. */
export function missedLines(leftOut: readonly LeftOut[]): readonly string[] {
  const lines = leftOut.map(
    ({ what, reason }) => `left out ${escapeText(what, 200)}: ${escapeText(reason, 400)}`,
  );
  const rest = lines.length - 10;
  return rest <= 0 ? lines : [...lines.slice(0, 10), `and ${rest} more, which the manifest names`];
}

/** A few by name: a service may have hundreds. */
export function leftOutLines({ leftOut }: Written): readonly string[] {
  const lines = [...leftOut].map(
    ([address, reason]) => `left out ${escapeText(address, 300)}: ${escapeText(reason, 400)}`,
  );
  const rest = lines.length - 5;
  return rest <= 0
    ? lines
    : [...lines.slice(0, 5), `and ${rest} more, which stand in the manifest as comments`];
}

/** How much was written. */
export function saidOf({ declared, leftOut }: Written): string {
  return `${amount(declared, "resource")} written${leftOut.size === 0 ? "" : `, ${leftOut.size} left out as comments`}`;
}
