import { micromark } from "micromark";
import { gfm, gfmHtml } from "micromark-extension-gfm";
import { describe, expect, it } from "vitest";
import type { DriftReport } from "../../../src/model/drift.ts";
import { GraphformError } from "../../../src/model/errors.ts";
import { failureMarkdown } from "../../../src/report/markdown/report-markdown.ts";
import { name, orders, saying, whole } from "../drift-parts.ts";
import { driftMarkdown } from "../rendered.ts";
import { words } from "../words.ts";

const hostile = [
  "`EVIL`",
  "``` EVIL",
  "~~~ EVIL",
  "</details>EVIL<details open>",
  "<script>EVIL</script>",
  "--><b>EVIL</b><!--",
  "| EVIL | x |",
  "a\n\n## EVIL\n\n```\nEVIL",
  "@EVIL/team #1 https://evil.example/EVIL",
  "[EVIL](http://evil.example) ![EVIL](x)",
  "**EVIL** &lt;EVIL&gt;",
];

/** What a report lets out of its code, or does not close; nothing of a whole one. */
function faultsIn(markdown: string): readonly string[] {
  const options = { extensions: [gfm()], htmlExtensions: [gfmHtml()], allowDangerousHtml: true };
  const html = micromark(markdown, options)
    .replace(/<code(?: class="[a-z-]*")?>[^<]*<\/code>/g, "<code/>")
    .replace(/^<!-- graphform:drift name=\S* -->\n/, "");
  const count = (pattern: RegExp): number => html.match(pattern)?.length ?? 0;
  return [
    ...(html.match(/EVIL|<script|<b>|<!--|<a |<img|href=/g) ?? []),
    ...(count(/<details>/g) === count(/<\/details>/g) ? [] : ["details that are not closed"]),
  ];
}

describe("Markdown of drift", () => {
  it("has marker, verdict, counts, the worst unfolded, the rest folded, what was seen, and the ways out", () => {
    const written = driftMarkdown(whole, words);
    expect(faultsIn(written)).toEqual([]);
    const open = written.replace(/<details>[\s\S]*?<\/details>/g, "<folded>");
    expect(open.split("\n")[0]).toBe("<!-- graphform:drift name=shop -->");
    const order = [
      "**Drift: 2 resources changed outside, 1 not declared.** 16 of 23 values were seen;",
      "### Deleted outside (1)",
      "### Changed outside (1)",
      '! config.name: "orders" → "orders-2" (echoed back)  # line 11',
      "### Not declared (1)",
      "<folded>",
      "- `graphform plan` shows what putting it back takes",
      "- `graphform drift --adopt instances.orders.config.description` writes",
    ].map((part) => open.indexOf(part));
    expect(order).not.toContain(-1);
    expect(order).toEqual([...order].sort((a, b) => a - b));
    expect(written).toContain("# 2026-03-04 09:12 UTC kim@example.com: instance modified");
    expect(written).toContain("! instances.new: does not exist yet");
    expect(written).not.toContain("hunter2");
  });

  it("says how much was seen where there is no drift", () => {
    const none = { ...whole, resources: [], unmanaged: [] };
    expect(driftMarkdown(none, words)).toContain("**No drift found.** 16 of 23 values were seen;");
    expect(driftMarkdown({ ...none, complete: false }, words)).toContain(
      "**No drift found in what was checked.**",
    );
  });

  it("folds equal drift of many into one block, and tells other values apart", () => {
    const stopped = (n: number, seen: string): DriftReport["resources"][number] => ({
      ...orders,
      address: `instances.db${n}`,
      id: `instance-${n}`,
      what: "stopped",
      reason: `instance-${n} was stopped`,
      since: `2026-03-02T14:0${n % 2}:00Z`,
      fields: [{ ...name, seen }],
    });
    const many = Array.from({ length: 60 }, (_, n) => stopped(n, "stopped"));
    const written = driftMarkdown({ ...whole, resources: [...many, stopped(61, "other")] }, words);
    expect(written).toContain("@@ stopped 60 resources @@");
    expect(written).toContain(
      "# ID was stopped; last seen right 2026-03-02 14:00 UTC to 2026-03-02 14:01 UTC",
    );
    expect(written).toContain("@@ stopped instances.db61");
  });

  it.each([60_000, 8_000, 3_000])("keeps %i bytes, worst first, and counts what it leaves out", (bytes) => {
    const many = Array.from({ length: 900 }, (_, n) => ({
      ...orders,
      address: `instances.db${n}`,
      fields: [{ ...name, seen: `${"`".repeat(n % 9)}${"é".repeat(60)}${n}` }],
    }));
    const written = driftMarkdown({ ...whole, resources: many }, words, bytes);
    expect(Buffer.byteLength(written)).toBeLessThanOrEqual(bytes);
    expect(faultsIn(written)).toEqual([]);
    const left = Number(/^(\d+) more left out/m.exec(written)?.[1]);
    expect((written.match(/^@@ /gm)?.length ?? 0) + left).toBe(900);
  });

  it.each(hostile)("lets nothing of %j out of its code", (word) => {
    expect(faultsIn(driftMarkdown(saying(word), words))).toEqual([]);
    const failed = failureMarkdown(new GraphformError("x", word), word, "drift");
    expect(faultsIn(failed)).toEqual([]);
    expect(failed).toContain("The service could not be read.");
  });
});
