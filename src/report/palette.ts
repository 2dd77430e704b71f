/** @module Provides the colours and the width of text reports. */
import picocolors from "picocolors";

/** Colours text that is already escaped. */
export type Paint = (text: string) => string;

/** The colours of text reports. The caller decides about colour; reports do not inspect the terminal. */
export interface Palette {
  readonly bold: Paint;
  readonly dim: Paint;
  readonly red: Paint;
  readonly yellow: Paint;
  readonly green: Paint;
  readonly cyan: Paint;
  readonly plain: Paint;
}

/** Creates a palette; without `colour` it returns every text unchanged. */
export function makePalette(colour: boolean): Palette {
  const { bold, dim, red, yellow, green, cyan } = picocolors.createColors(colour);
  return { bold, dim, red, yellow, green, cyan, plain: (text) => text };
}

/** Layout of a text report: its colours and its width in columns. */
export interface Page {
  readonly palette: Palette;
  readonly width: number;
}
