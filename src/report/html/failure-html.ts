/** @module Writes the page of a plan that could not be made. */
import { isGraphformError, isManifestError } from "../../model/errors.ts";
import type { Problem } from "../../model/problem.ts";
import { erroredPlanJson } from "../error-json.ts";
import { messageOf } from "../events.ts";
import { type Markup, markup } from "./markup.ts";
import { pageText, type Sha256 } from "./page.ts";

/** A page that says why there is no plan, with the document that `plan --json` prints then. */
export function failureHtml(error: unknown, sha256: Sha256): string {
  const hint = isGraphformError(error) ? error.hint : undefined;
  const problems = isManifestError(error) ? error.problems : [];
  const parts = {
    title: "There is no plan",
    header: markup`<h1 class="bad">There is no plan: ${messageOf(error)}</h1>${hint !== undefined && markup`<p>Way out: ${hint}</p>`}`,
    main: markup`<ul class="plain">${problems.map(problemHtml)}</ul>`,
    footer: markup`<p class="dim">Made by graphform. Whatever an earlier plan said is not known to hold.</p>`,
    data: erroredPlanJson(error),
  };
  return pageText(parts, sha256);
}

function problemHtml({ severity, message, range, hint }: Problem): Markup {
  return markup`<li><code>${range.file}:${range.start.line}</code> ${severity}: ${message}${hint !== undefined && markup` <span class="dim">${hint}</span>`}</li>`;
}
