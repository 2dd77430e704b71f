/** @module Draws a bar of parts side by side. The words beside it say the same. */
import type { Tone } from "./action-words.ts";
import { type Markup, markup } from "./markup.ts";

/** One part of a bar. */
export interface BarPart {
  readonly amount: number;
  readonly tone: Tone;
}

const length = 1000;

/** A bar as wide as its column; the parts have their share of it. Nothing where there is no amount. */
export function barHtml(parts: readonly BarPart[]): Markup | undefined {
  const total = parts.reduce((sum, { amount }) => sum + amount, 0);
  if (total === 0) return undefined;
  let at = 0;
  const rects = parts.map(({ amount, tone }) => {
    const width = (amount / total) * length;
    at += width;
    return markup`<rect class="${tone}" x="${(at - width).toFixed(1)}" y="0" width="${width.toFixed(1)}" height="14"/>`;
  });
  return markup`<svg class="bar" viewBox="0 0 ${length} 14" preserveAspectRatio="none" aria-hidden="true">${rects}</svg>`;
}
