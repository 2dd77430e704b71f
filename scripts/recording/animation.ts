import { html } from "hono/html";
import type { Frame, Run } from "./screen.ts";

/** Size of a character cell, and the space around the text, in pixels. */
const cell = { width: 8.4, height: 18 };
const margin = 16;

/** Colours of the terminal's palette that readers can tell apart on the dark ground. */
const colours: readonly string[] = [
  "#7d8590",
  "#ff7b72",
  "#7ee787",
  "#e3b341",
  "#79c0ff",
  "#d2a8ff",
  "#56d4dd",
  "#e6edf3",
];

/**
 * An animated SVG of these frames that repeats for ever, without scripts. `title` is what a screen reader says. Where
 * the reader has asked for less motion, the last frame stands still.
 */
export function animationOf(
  frames: readonly Frame[],
  size: { readonly columns: number; readonly rows: number },
  title: string,
): string {
  const total = (frames.at(-1)?.at ?? 0) + 2500;
  const width = Math.ceil(size.columns * cell.width + 2 * margin);
  const height = Math.ceil(size.rows * cell.height + 2 * margin);
  const lines = new Map<string, string>();
  const groups = frames.map((frame, index) => {
    const until = frames[index + 1]?.at ?? total;
    const shown = frame.lines.flatMap((runs, row) => {
      if (runs.length === 0) return [];
      const text = lineOf(runs);
      const id = lines.get(text) ?? `l${lines.size}`;
      lines.set(text, id);
      return `<use href="#${id}" y="${row * cell.height}"/>`;
    });
    const last = index === frames.length - 1 ? " last" : "";
    return `<g class="f${last}" style="animation-name:f${index}">${shown.join("")}</g>
<style>${keyframes(index, frame.at / total, until / total)}</style>`;
  });
  const defined = [...lines].map(
    ([text, id]) => `<text id="${id}" x="0" y="${cell.height * 0.75}">${text}</text>`,
  );
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img">
<title>${escaped(title)}</title>
<style>
text{font:14px ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;fill:#e6edf3;white-space:pre}
.b{font-weight:700}.d{opacity:.65}${colours.map((colour, index) => `.c${index}{fill:${colour}}`).join("")}
.f{visibility:hidden;animation:${total}ms step-end infinite}
@media (prefers-reduced-motion:reduce){.f{animation:none}.last{visibility:visible}}
</style>
<rect width="100%" height="100%" rx="8" fill="#0d1117"/>
<defs>${defined.join("\n")}</defs>
<g transform="translate(${margin} ${margin})">
${groups.join("\n")}
</g>
</svg>
`;
}

/** Shows a frame from one part of the whole to another, in 0 to 1. */
function keyframes(index: number, from: number, until: number): string {
  const percent = (part: number): string => `${(part * 100).toFixed(3)}%`;
  const before = from === 0 ? "" : "0%{visibility:hidden}";
  return `@keyframes f${index}{${before}${percent(from)}{visibility:visible}${percent(until)}{visibility:hidden}}`;
}

function lineOf(runs: readonly Run[]): string {
  let column = 0;
  const spans = runs.map((run) => {
    const x = (column * cell.width).toFixed(1);
    column += run.text.length;
    const classes = [
      ...(run.bold ? ["b"] : []),
      ...(run.dim ? ["d"] : []),
      ...(run.colour === undefined ? [] : [`c${run.colour % 8}`]),
    ].join(" ");
    if (run.text.trim() === "") return "";
    return `<tspan x="${x}" textLength="${(run.text.length * cell.width).toFixed(1)}"${
      classes === "" ? "" : ` class="${classes}"`
    }>${escaped(run.text)}</tspan>`;
  });
  return spans.join("");
}

/** Text that means itself in XML. */
function escaped(text: string): string {
  return String(html`${text}`);
}
