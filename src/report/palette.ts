import picocolors from "picocolors";

/** Colours a piece of text that is already safe to print. */
export type Paint = (text: string) => string;

/** The colours of every text report. Who calls decides whether there are any; reports never look around. */
export interface Palette {
  readonly bold: Paint;
  readonly dim: Paint;
  readonly red: Paint;
  readonly yellow: Paint;
  readonly green: Paint;
  readonly cyan: Paint;
  readonly plain: Paint;
}

/** A palette with colours, or one that leaves every text as it is. */
export function makePalette(colour: boolean): Palette {
  const { bold, dim, red, yellow, green, cyan } = picocolors.createColors(colour);
  return { bold, dim, red, yellow, green, cyan, plain: (text) => text };
}

/** What every text report is handed: its colours, and how many columns there are. */
export interface Page {
  readonly palette: Palette;
  readonly width: number;
}
