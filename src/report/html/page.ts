/** @module Writes a whole page of a report: one file without network, closed by a content security policy. */
import { type Json, jsonEscape } from "../../model/json.ts";
import { jsonText } from "../typeset.ts";
import { type Markup, markup, trusted } from "./block-html.ts";

interface PageParts {
  readonly title: string;
  readonly header: Markup;
  readonly main: Markup;
  readonly footer: Markup;
  /** The document for programs; it stands in `<script type="application/json" id="report-json">`. */
  readonly data: Json;
}

/** The style sheet and the script of all pages. The script changes what is shown of the page; it writes no markup. */
export interface PageAssets {
  readonly style: string;
  readonly script: string;
  /** The digest of a text, in base64. */
  sha256(text: string): string;
}

/** The page as text. It loads nothing, and runs nothing but its own script. */
export function pageText(
  { title, header, main, footer, data }: PageParts,
  { style, script, sha256 }: PageAssets,
): string {
  const policy = [
    "default-src 'none'",
    `style-src 'sha256-${sha256(style)}'`,
    `script-src 'sha256-${sha256(script)}'`,
    "base-uri 'none'",
    "form-action 'none'",
  ].join("; ");
  const page = markup`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${trusted(policy)}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<title>${title}</title>
<style>${trusted(style)}</style>
</head>
<body>
<a class="skip" href="#content">Skip to the content</a>
<header class="top"><div class="wide">${header}</div></header>
<main class="wide" id="content">${main}</main>
<footer class="wide">${footer}</footer>
<script type="application/json" id="report-json">${trusted(dataText(data))}</script>
<script>${trusted(script)}</script>
</body>
</html>
`;
  return page.toString();
}

/** JSON in which nothing can end the element that it stands in, or begin a comment. */
function dataText(data: Json): string {
  return jsonText(data).replace(/[<>&]/g, jsonEscape);
}
