/** @module Writes the page of a plan or a drift report that could not be made. */
import { type GraphformError, isManifestError } from "../../model/errors.ts";
import { erroredDriftJson } from "../drift/drift-json.ts";
import { failureWords } from "../error-text.ts";
import { erroredPlanJson } from "../problems-json.ts";
import { markup } from "./markup.ts";
import { pageText, type Sha256 } from "./page.ts";

/** A page that says why there is no plan or no drift report, with the document that `--json` prints then. */
export function failureHtml(
  error: GraphformError,
  sha256: Sha256,
  report: "plan" | "drift" = "plan",
): string {
  const { title, text } = failureWords[report];
  const { message, hint } = error;
  const problems = (isManifestError(error) ? error.problems : []).map(
    (one) =>
      markup`<li><code>${one.range.file}:${one.range.start.line}</code> ${one.severity}: ${one.message}${one.hint !== undefined && markup` <span class="dim">${one.hint}</span>`}</li>`,
  );
  const parts = {
    title,
    header: markup`<h1 class="bad">${title}: ${message}</h1>${hint !== undefined && markup`<p>Way out: ${hint}</p>`}`,
    main: markup`<ul class="plain">${problems}</ul>`,
    footer: markup`<p class="dim">${text}</p>`,
    data: report === "plan" ? erroredPlanJson(error) : erroredDriftJson(error),
  };
  return pageText(parts, sha256);
}
