// biome-ignore lint/correctness/noUnresolvedImports: a CommonJS package has a default export at run time.
import xterm from "@xterm/headless";

/** A run of characters in one style. Colours are numbers of the terminal's palette; undefined is the default. */
export interface Run {
  readonly text: string;
  readonly colour?: number;
  readonly bold: boolean;
  readonly dim: boolean;
}

/** What the screen shows at one moment: its lines from the top, each as runs. */
export interface Frame {
  /** Milliseconds since the recording began. */
  readonly at: number;
  readonly lines: readonly (readonly Run[])[];
}

/** A terminal without a window, and what it has shown so far. */
export interface Screen {
  /** Puts text on the screen as a program would, and keeps a frame of the result. */
  write(text: string): Promise<void>;
  readonly frames: readonly Frame[];
}

/** A screen of this size. `now` gives milliseconds; the first frame is at 0. */
export function openScreen(columns: number, rows: number, now: () => number): Screen {
  const terminal = new xterm.Terminal({ cols: columns, rows, scrollback: 0, allowProposedApi: true });
  const start = now();
  const frames: Frame[] = [];
  return {
    frames,
    async write(text) {
      await new Promise<void>((written) => terminal.write(text, written));
      frames.push({ at: now() - start, lines: linesOf(terminal, rows) });
    },
  };
}

function linesOf(terminal: xterm.Terminal, rows: number): Frame["lines"] {
  const { active } = terminal.buffer;
  return Array.from({ length: rows }, (_, row) => {
    const line = active.getLine(active.viewportY + row);
    const runs: Run[] = [];
    for (let column = 0; column < terminal.cols; column++) {
      const cell = line?.getCell(column);
      if (cell === undefined || cell.getWidth() === 0) continue;
      const next = {
        text: cell.getChars() === "" ? " " : cell.getChars(),
        ...(cell.isFgPalette() ? { colour: cell.getFgColor() } : {}),
        bold: cell.isBold() !== 0,
        dim: cell.isDim() !== 0,
      };
      const last = runs.at(-1);
      if (last !== undefined && isAlike(last, next))
        runs[runs.length - 1] = { ...last, text: last.text + next.text };
      else runs.push(next);
    }
    return trimmed(runs);
  });
}

function isAlike(one: Run, other: Run): boolean {
  return one.colour === other.colour && one.bold === other.bold && one.dim === other.dim;
}

/** Without the empty rest of the line. */
function trimmed(runs: readonly Run[]): readonly Run[] {
  const last = runs.at(-1);
  if (last === undefined) return [];
  const text = last.text.trimEnd();
  return text === "" ? trimmed(runs.slice(0, -1)) : [...runs.slice(0, -1), { ...last, text }];
}
