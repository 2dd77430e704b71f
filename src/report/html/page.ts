/** @module Writes a whole page of a report: one file without network, closed by a content security policy. */
import type { Json } from "../../model/json.ts";
import { jsonText } from "../typeset.ts";
import { type Markup, markup, trusted } from "./block-html.ts";

interface PageParts {
  readonly title: string;
  /** Verdict and next command. */
  readonly header: Markup;
  readonly main: Markup;
  readonly footer: Markup;
  /** The document for programs; it stands in `<script type="application/json" id="report-json">`. */
  readonly data: Json;
}

export type Sha256 = (text: string) => string;

/** The page as text. It loads nothing, and runs nothing but its own script. */
export function pageText({ title, header, main, footer, data }: PageParts, sha256: Sha256): string {
  const policy = [
    "default-src 'none'",
    `style-src 'sha256-${sha256(pageStyle)}'`,
    `script-src 'sha256-${sha256(pageScript)}'`,
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
<style>${trusted(pageStyle)}</style>
</head>
<body>
<a class="skip" href="#content">Skip to the content</a>
<header class="top"><div class="wide">${header}</div></header>
<main class="wide" id="content">${main}</main>
<footer class="wide">${footer}</footer>
<script type="application/json" id="report-json">${trusted(dataText(data))}</script>
<script>${trusted(pageScript)}</script>
</body>
</html>
`;
  return page.toString();
}

/** JSON in which nothing can end the element that it stands in, or begin a comment. */
function dataText(data: Json): string {
  return jsonText(data).replace(
    /[<>&]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

/** The script. It reads the page and changes what is shown of it; it writes no markup. */
const pageScript = `"use strict";
(() => {
  const form = document.querySelector("form.filters");
  const blocks = [...document.querySelectorAll("details.block")];
  const groups = [...document.querySelectorAll(".group")];
  const reveal = () => {
    const target = location.hash.includes("=") ? null : document.getElementById(location.hash.slice(1));
    const block = target === null ? null : target.closest("details");
    if (block === null) return;
    block.open = true;
    block.scrollIntoView();
  };
  const matches = (block, wanted) => {
    for (const [name, value] of wanted) {
      if (name === "text" ? !block.textContent.toLowerCase().includes(value.toLowerCase()) : block.dataset[name] !== value) return false;
    }
    return true;
  };
  const filter = (wanted) => {
    let shown = 0;
    let all = 0;
    for (const block of blocks) {
      const count = Number(block.dataset.count);
      block.hidden = !matches(block, wanted);
      all += count;
      if (!block.hidden) shown += count;
    }
    for (const group of groups) group.hidden = group.querySelector("details.block:not([hidden])") === null;
    form.querySelector("[role=status]").textContent = shown === all ? "" : shown + " of " + all + " shown";
  };
  const known = () => [...form.elements].filter((field) => field.name !== "");
  const fromPage = () => {
    const wanted = new URLSearchParams();
    for (const field of known()) {
      if (field.type === "checkbox" ? field.checked : field.value !== "") wanted.set(field.name, field.value);
    }
    return wanted;
  };
  const fromUrl = () => {
    const given = new URLSearchParams(location.hash.slice(1));
    for (const field of known()) {
      const value = given.get(field.name) ?? "";
      if (field.type === "checkbox") field.checked = value === field.value;
      else field.value = value;
    }
    filter(fromPage());
    reveal();
  };
  if (form !== null) {
    form.hidden = false;
    form.addEventListener("submit", (event) => event.preventDefault());
    form.addEventListener("input", () => {
      const wanted = fromPage();
      history.replaceState(null, "", "#" + wanted);
      filter(wanted);
    });
    form.addEventListener("click", (event) => {
      const all = event.target.dataset.fold;
      if (all !== undefined) for (const block of blocks) block.open = all === "open";
    });
    addEventListener("hashchange", fromUrl);
    fromUrl();
  }
  let opened = [];
  addEventListener("beforeprint", () => {
    opened = [...document.querySelectorAll("details:not([open])")];
    for (const closed of opened) closed.open = true;
  });
  addEventListener("afterprint", () => {
    for (const closed of opened) closed.open = false;
  });
})();
`;

/** The style sheet. It names no file and no font that would have to be loaded. */
const pageStyle = `
:root {
  color-scheme: light dark;
  --page: #ffffff; --raised: #f6f8fa; --line: #d0d7de; --text: #1f2328; --dim: #57606a; --link: #0550ae;
  --bad: #a40e26; --bad-back: #ffebe9; --bad-line: #ff8182;
  --careful: #7a4100; --careful-back: #fff4d6; --careful-line: #d4a72c;
  --good: #0f5323; --good-back: #dafbe1; --good-line: #4ac26b;
  --quiet: #3b434b; --quiet-back: #eaeef2; --quiet-line: #afb8c1;
}
@media screen and (prefers-color-scheme: dark) {
  :root {
    --page: #0d1117; --raised: #161b22; --line: #30363d; --text: #e6edf3; --dim: #9da7b3; --link: #79b8ff;
    --bad: #ffb3ad; --bad-back: #3d1416; --bad-line: #b62324;
    --careful: #f5c869; --careful-back: #33260a; --careful-line: #9e6a03;
    --good: #7ee2a0; --good-back: #0f2e1a; --good-line: #238636;
    --quiet: #c9d1d9; --quiet-back: #2a313a; --quiet-line: #484f58;
  }
}
.bad { --tone: var(--bad); --back: var(--bad-back); --edge: var(--bad-line); }
.careful { --tone: var(--careful); --back: var(--careful-back); --edge: var(--careful-line); }
.good { --tone: var(--good); --back: var(--good-back); --edge: var(--good-line); }
.quiet { --tone: var(--quiet); --back: var(--quiet-back); --edge: var(--quiet-line); }
* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; scroll-padding-top: 1rem; }
body { margin: 0; background: var(--page); color: var(--text); line-height: 1.5;
  font: 16px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "DejaVu Sans", sans-serif; overflow-wrap: anywhere; }
code, .value, .address { font-family: ui-monospace, "SF Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace; font-size: .9em; }
a { color: var(--link); }
:focus-visible { outline: 2px solid var(--link); outline-offset: 2px; border-radius: 3px; }
[hidden] { display: none !important; }
.skip { position: absolute; left: -99rem; background: var(--page); padding: .5rem 1rem; }
.skip:focus { left: 1rem; top: 1rem; z-index: 1; }
.wide { max-width: 68rem; margin: 0 auto; padding: 0 1.25rem; }
.dim, small { color: var(--dim); font-size: .875rem; }
h1, h2, h3, p, ul, ol, dl, dd { margin: 0; padding: 0; }
ul, ol { list-style: none; }
h2 { font-size: 1.2rem; margin: 2.25rem 0 .75rem; }
h2 .dim { font-weight: 400; }
.top { background: var(--raised); border-bottom: 1px solid var(--line); padding: 1.5rem 0; }
.top h1 { font-size: 1.6rem; line-height: 1.3; margin: .35rem 0 .9rem; padding-left: .8rem; border-left: .35rem solid var(--edge); }
.next { display: flex; flex-wrap: wrap; gap: .35rem .75rem; align-items: baseline; }
.next code { background: var(--page); border: 1px solid var(--line); border-radius: 6px; padding: .35rem .7rem; font-size: 1rem;
  user-select: all; }
.facts { display: flex; flex-wrap: wrap; gap: .25rem 1.25rem; margin-top: .9rem; }
.cards { display: grid; grid-template-columns: repeat(auto-fit, minmax(17rem, 1fr)); gap: 1rem; margin-top: 1.5rem; }
.card { border: 1px solid var(--line); border-radius: 8px; padding: .9rem 1.1rem 1rem; }
.card h2 { margin: 0 0 .5rem; font-size: 1rem; }
.card .big { font-size: 1.05rem; }
.card dl { display: grid; grid-template-columns: auto 1fr; gap: .1rem .75rem; }
.card dt { text-align: right; font-variant-numeric: tabular-nums; font-weight: 600; }
.bar { display: block; width: 100%; height: .9rem; margin: .6rem 0; border-radius: 4px; }
.bar rect { fill: var(--back); stroke: var(--edge); vector-effect: non-scaling-stroke; }
.path li { display: flex; gap: .6rem; font-size: .875rem; }
.path .time { color: var(--dim); min-width: 4.2em; text-align: right; font-variant-numeric: tabular-nums; flex: none; }
.chip { display: inline-block; background: var(--back); color: var(--tone); border: 1px solid var(--edge); border-radius: 99px;
  padding: 0 .55rem; font-size: .8rem; font-weight: 600; max-width: 100%; }
.legend { display: flex; flex-wrap: wrap; gap: .3rem .4rem; }
form.filters { display: flex; flex-wrap: wrap; gap: .6rem 1rem; align-items: end; margin-top: 1.75rem; padding: .75rem 1rem;
  background: var(--raised); border: 1px solid var(--line); border-radius: 8px; }
.filters label { display: grid; gap: .15rem; min-width: 0; max-width: 100%; font-size: .8rem; color: var(--dim); }
.filters .tick { display: flex; gap: .4rem; align-items: center; padding-bottom: .35rem; }
.filters select, .filters input:not([type=checkbox]), .filters button { font: inherit; font-size: .9rem; color: var(--text); background: var(--page);
  border: 1px solid var(--quiet-line); border-radius: 6px; padding: .25rem .5rem; min-height: 2rem; max-width: 100%; min-width: 0; }
.filters [role=status] { font-size: .875rem; padding-bottom: .35rem; }
.group > h2 { display: flex; flex-wrap: wrap; gap: .25rem .6rem; align-items: baseline; }
.group > h2::before { content: ""; width: .7rem; height: .7rem; border-radius: 3px; background: var(--edge); }
.block { border: 1px solid var(--line); border-left: .3rem solid var(--edge); border-radius: 6px; margin-bottom: .6rem; }
.many .block { content-visibility: auto; contain-intrinsic-size: auto 7rem; }
.block > summary { display: flex; flex-wrap: wrap; gap: .3rem .6rem; align-items: baseline; padding: .6rem .9rem; cursor: pointer; list-style: none; }
.block > summary::-webkit-details-marker { display: none; }
.block > summary::before { content: "▸"; color: var(--dim); width: .8em; flex: none; }
.block[open] > summary::before { content: "▾"; }
.block h3 { font-size: 1rem; font-weight: 600; }
.block .sign { color: var(--tone); font-weight: 700; }
.block .where { margin-left: auto; }
.block .body { padding: .1rem .9rem .8rem 2.2rem; display: grid; gap: .6rem; }
.addresses { columns: 22rem; column-gap: 1.5rem; margin: .3rem 0 .2rem; }
.addresses li { break-inside: avoid; }
.body details > summary { cursor: pointer; color: var(--link); font-size: .9rem; width: fit-content; }
.names { display: flex; flex-wrap: wrap; gap: 0 1.2rem; }
section.guard { margin-top: 1rem; }
section.guard h2 { margin: 0; font-size: 1rem; color: var(--tone); }
.guard { background: var(--back); border: 1px solid var(--edge); border-radius: 6px; padding: .5rem .8rem; }
.guard strong { color: var(--tone); }
.guard code { color: var(--text); }
table { width: 100%; border-collapse: collapse; font-size: .9rem; }
caption { text-align: left; color: var(--dim); font-size: .875rem; padding-bottom: .2rem; }
th { text-align: left; font-weight: 600; color: var(--dim); font-size: .8rem; }
th, td { padding: .3rem .8rem .3rem 0; vertical-align: top; border-top: 1px solid var(--line); }
thead th { border-top: 0; padding-top: 0; overflow-wrap: normal; }
tbody th { color: var(--text); font-size: .9rem; font-weight: 400; min-width: min(14em, 30vw); }
td.note { min-width: min(8em, 20vw); }
tr.replaces th, tr.replaces .note { color: var(--bad); font-weight: 600; }
td small { display: block; }
.picture { overflow-x: auto; border: 1px solid var(--line); border-radius: 8px; padding: .5rem; }
.picture svg { display: block; margin: 0 auto; }
.picture .node rect { fill: var(--back); stroke: var(--edge); }
.picture .kept rect { fill: var(--page); stroke-dasharray: 4 3; }
.picture text { fill: var(--text); font: 12px ui-monospace, Menlo, Consolas, "DejaVu Sans Mono", monospace; }
.picture .does { fill: var(--tone); font-weight: 600; }
.picture path { fill: none; stroke: var(--dim); }
.picture marker path { fill: var(--dim); stroke: none; }
.notes .body, .differences .body { padding: .6rem .9rem; }
section > details:not(.block) > summary { cursor: pointer; color: var(--link); margin: .4rem 0; width: fit-content; }
.plain li { padding: .15rem 0; }
footer.wide { border-top: 1px solid var(--line); margin-top: 3rem; padding-top: 1rem; padding-bottom: 2rem; }
@media (max-width: 40rem) {
  .wide { padding: 0 .9rem; }
  .top h1 { font-size: 1.3rem; }
  .block .body { padding-left: .9rem; }
  .block .where { margin-left: 1.4em; flex-basis: 100%; }
  thead { position: absolute; clip-path: inset(50%); }
  tr { display: block; border-top: 1px solid var(--line); padding: .35rem 0; }
  tbody th, td, td.note { display: block; border: 0; padding: 0 0 0 1rem; min-width: 0; }
  tbody th { padding-left: 0; }
  td[data-head]::before { content: attr(data-head) " "; color: var(--dim); font-size: .8rem; }
  td:empty { display: none; }
}
@media print {
  body { font-size: 11pt; }
  .filters, .skip { display: none !important; }
  .top { background: none; }
  details::details-content { content-visibility: visible; block-size: auto; }
  .block, .many .block { break-inside: avoid; content-visibility: visible; }
  .block > summary::before, .body details > summary { display: none; }
  a { color: inherit; text-decoration: none; }
}
`;
