/** @module Writes the page of a plan or a drift report that could not be made. */
import { type GraphformError, isManifestError } from "../../model/errors.ts";
import type { Problem } from "../../model/problem.ts";
import { erroredDriftJson } from "../drift/drift-json.ts";
import { erroredPlanJson } from "../error-json.ts";
import { type Markup, markup } from "./markup.ts";
import { pageText, type Sha256 } from "./page.ts";

const sentences = {
  plan: {
    title: "There is no plan",
    footer: "Whatever an earlier plan said is not known to hold.",
    data: erroredPlanJson,
  },
  drift: {
    title: "Nobody could look",
    footer: "That proves nothing: neither drift nor its absence.",
    data: erroredDriftJson,
  },
} as const;

/** A page that says why there is no plan or no drift report, with the document that `--json` prints then. */
export function failureHtml(
  error: GraphformError,
  sha256: Sha256,
  report: "plan" | "drift" = "plan",
): string {
  const { title, footer, data } = sentences[report];
  const { message, hint } = error;
  const problems = isManifestError(error) ? error.problems : [];
  const parts = {
    title,
    header: markup`<h1 class="bad">${title}: ${message}</h1>${hint !== undefined && markup`<p>Way out: ${hint}</p>`}`,
    main: markup`<ul class="plain">${problems.map(problemHtml)}</ul>`,
    footer: markup`<p class="dim">Made by graphform. ${footer}</p>`,
    data: data(error),
  };
  return pageText(parts, sha256);
}

function problemHtml({ severity, message, range, hint }: Problem): Markup {
  return markup`<li><code>${range.file}:${range.start.line}</code> ${severity}: ${message}${hint !== undefined && markup` <span class="dim">${hint}</span>`}</li>`;
}
