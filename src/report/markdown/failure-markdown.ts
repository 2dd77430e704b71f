/** @module Formats the error that kept a plan or a drift report from being made as Markdown for a pull request. */
import { type GraphformError, isManifestError } from "../../model/errors.ts";
import { errorText, failureWords } from "../error-text.ts";
import { makePalette } from "../palette.ts";
import { problemsText } from "../problems-text.ts";
import { amount } from "../words.ts";
import { fence } from "./code.ts";
import { marker } from "./within-budget.ts";

/** Problems that the report lists. */
const maxListed = 20;

/** Longest line, in characters; a line of an error is not longer, but that of a file may be. */
const maxLength = 1000;

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
  const left = problems.length - maxListed;
  const { title, text } = failureWords[report];
  const written = problems.length > 0 ? problemsText(problems.slice(0, maxListed), page) : errorText(error);
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
