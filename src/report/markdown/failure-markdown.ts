/** @module Formats the error that kept a plan or a drift report from being made as Markdown for a pull request. */
import { type GraphformError, isManifestError } from "../../model/errors.ts";
import { errorText } from "../error-text.ts";
import { makePalette } from "../palette.ts";
import { problemsText } from "../problems-text.ts";
import { amount } from "../words.ts";
import { fence } from "./block-lines.ts";
import { marker } from "./within-budget.ts";

/** Problems that the report lists. */
const listed = 20;

/** Title and verdict of each report that could not be made. */
const sentences = {
  plan: ["## No plan", "**The plan could not be made. Nothing was changed.**"],
  drift: [
    "## Drift is not known",
    "**Nobody could look. That proves nothing: neither drift nor its absence.**",
  ],
} as const;

/** Longest line, in characters; a line of an error is not longer, but that of a file may be. */
const longest = 1000;

/**
 * The error as Markdown, with the marker of the report: it takes the place of the one that was shown before. `name` is that of the
 * manifest, empty where it could not be read.
 */
export function failureMarkdown(
  error: GraphformError,
  name: string,
  report: "plan" | "drift" = "plan",
): string {
  const page = { palette: makePalette(false), width: 100 };
  const problems = isManifestError(error) ? error.problems : [];
  const left = problems.length - listed;
  const text = problems.length > 0 ? problemsText(problems.slice(0, listed), page) : errorText(error);
  const lines = text
    .trimEnd()
    .split("\n")
    .map((line) => [...line].slice(0, longest).join(""));
  return `${[
    marker(report, name),
    ...sentences[report],
    fence("", lines),
    ...(left > 0 ? [`${amount(left, "problem")} more: \`graphform validate\` shows all.`] : []),
  ].join("\n\n")}\n`;
}
