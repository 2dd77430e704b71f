import { describe, expect, it } from "vitest";
import type { DriftReport } from "../../../src/model/drift.ts";
import { GraphformError } from "../../../src/model/errors.ts";
import { failureHtml } from "../../../src/report/html/report-html.ts";
import { saying, whole } from "../drift-parts.ts";
import { driftHtml, driftJson } from "../rendered.ts";
import { words } from "../words.ts";
import { assets } from "./pages.ts";

const hostile = `"><script>window.broken = 1</script><img src=x onerror="x">' </script><!-- \u202e\u0000\u2028`;
const pageOf = (report: DriftReport): string => driftHtml(report, words, assets);

/** The page without script, style and data. */
function bodyOf(page: string): string {
  return page.replace(/<(script|style)\b[^>]*>[\s\S]*?<\/\1>/g, "");
}

const textOf = (page: string): string =>
  bodyOf(page)
    .replace(/<[^>]*>/g, " ")
    .replace(/\s+/g, " ");

describe.each([
  ["everything", whole],
  ["nothing", { ...whole, resources: [], unmanaged: [], outputs: [] }],
  ["hostile words", saying(hostile)],
])("the page of drift: %s", (_, report) => {
  const page = pageOf(report);

  it("has the JSON of the report, which parses back, and one script beside it", () => {
    const scripts = [...page.matchAll(/<script\b[^>]*>([\s\S]*?)<\/script>/g)].map((match) => match[1] ?? "");
    expect(scripts).toHaveLength(2);
    expect(JSON.parse(scripts[0] ?? "")).toEqual(JSON.parse(JSON.stringify(driftJson(report, words))));
  });

  it("loads nothing, shows no control character, and has every id once", () => {
    const tags = bodyOf(page).match(/<[a-z][^>]*>/g) ?? [];
    const names = tags.map((tag) => tag.replace(/"[^"]*"/g, '""'));
    expect(
      names.filter((tag) => /\s(src|srcset|action|on\w+|style)\s*=|^<(img|iframe|link)\b/.test(tag)),
    ).toEqual([]);
    expect(page.replaceAll("\n", "")).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/u);
    const ids = [...bodyOf(page).matchAll(/\sid="([^"]*)"/g)].map((match) => match[1]);
    expect(new Set(ids).size).toBe(ids.length);
    for (const [, label] of bodyOf(page).matchAll(/aria-labelledby="([^"]*)"/g)) expect(ids).toContain(label);
  });
});

describe("what a page of drift says", () => {
  it.each([
    ["the verdict", "Drift: 2 resources changed outside, 1 not declared."],
    ["the next command", "Next: graphform plan shows what putting it back takes"],
    ["how much was seen", "16 of 23 values were seen; 7 are only remembered from the last apply."],
    ["what was not checked", "not checked instances.new does not exist yet"],
    ["what is not at rest", "not at rest instances.slow still DEPLOYING"],
    ["when it was last seen right", "2 fields were changed outside; last seen right 2026-03-02 14:03 UTC."],
    ["who did it", "2026-03-04 09:12 UTC kim@example.com: instance modified"],
    ["a value with its source and line", "&quot;orders&quot; &quot;orders-2&quot; echoed back line 11"],
    ["the way to take it over", "graphform drift --adopt instances.orders.config.description writes"],
    ["what nobody declares", "not declared instance instance-9 &quot;somebody&#39;s&quot;"],
  ])("%s", (_, wanted) => {
    expect(textOf(pageOf(whole))).toContain(wanted);
  });

  it("has no secret, and the worst group first", () => {
    const page = pageOf(whole);
    expect(page).not.toContain("hunter2");
    const titles = [...page.matchAll(/<h2 id="group-\d">([^(]*) \(/g)].map((match) => match[1]);
    expect(titles).toEqual(["Deleted outside", "Changed outside", "Not applied yet"]);
  });

  it("says that a look has failed", () => {
    const page = failureHtml(new GraphformError("x", "<b>gone</b>", { hint: "look & see" }), assets, "drift");
    expect(page).toContain("Drift is not known: &lt;b&gt;gone&lt;/b&gt;");
    expect(textOf(page)).toContain("That proves neither drift nor its absence");
  });
});
