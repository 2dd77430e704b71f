import fc from "fast-check";
import { micromark } from "micromark";
import { gfm, gfmHtml } from "micromark-extension-gfm";
import { describe, expect, it } from "vitest";
import { GraphformError, ManifestError } from "../../../src/model/errors.ts";
import type { Plan } from "../../../src/model/plan.ts";
import { failureMarkdown } from "../../../src/report/markdown/report-markdown.ts";
import { codeSpan, fence, marker } from "../../../src/report/markdown/within-budget.ts";
import { runs } from "../../support/runs.ts";
import { anyPlan, text } from "../arbitraries.ts";
import { goldenPlans } from "../golden-plans.ts";
import { at, change, database, field, plan } from "../plan-parts.ts";
import { type MarkdownOptions, planMarkdown } from "../rendered.ts";
import { samplePlan } from "../sample-plan.ts";
import { words } from "../words.ts";

/** Stands in every hostile word; it may be seen in code alone. */
const mark = "EVIL";
const hostile = [
  "`EVIL`",
  "``` EVIL",
  "````EVIL",
  "~~~ EVIL",
  "</details>EVIL<details open>",
  "</summary><img src=x onerror=EVIL>",
  "<script>EVIL</script>",
  "--><b>EVIL</b><!--",
  "| EVIL | x |",
  "a\n\n## EVIL\n\n```\nEVIL",
  "@EVIL/team @EVIL",
  "#1 GH-1 EVIL/EVIL#1 !1 :EVIL:",
  "https://evil.example/EVIL www.EVIL.example EVIL@example.com",
  "[EVIL](http://evil.example) ![EVIL](x)",
  "**EVIL** _EVIL_ \\EVIL &lt;EVIL&gt;",
  "\\`EVIL\\`",
  " EVIL ",
  "`",
  "",
];

/** The HTML that GitHub makes of it, before it takes anything out. */
function htmlOf(markdown: string): string {
  return micromark(markdown, { extensions: [gfm()], htmlExtensions: [gfmHtml()], allowDangerousHtml: true });
}

/** What stands outside of code: there alone are mentions, links and markup. */
function outsideCode(html: string): string {
  return html.replace(/<code(?: class="[a-z-]*")?>[^<]*<\/code>/g, "<code/>");
}

const tags = /<(?!\/?(?:h2|h3|p|strong|table|thead|tbody|tr|th|td|details|summary|pre|code|em)\b)(?!!--)/;

function render(
  made: Plan,
  options: MarkdownOptions = {},
): { readonly markdown: string; readonly html: string } {
  const markdown = planMarkdown(made, words, options);
  return { markdown, html: htmlOf(markdown) };
}

/** What a report lets out of its code, or does not close; nothing of a whole one. */
function faultsIn(html: string): readonly string[] {
  const outside = outsideCode(html).replace(/^<!-- graphform:plan name=\S* -->\n/, "");
  const count = (pattern: RegExp): number => outside.match(pattern)?.length ?? 0;
  return [
    ...(outside.includes(mark) ? ["a foreign word"] : []),
    ...(outside.match(tags) ?? []),
    ...(count(/<details>/g) === count(/<\/details>/g) ? [] : ["details that are not closed"]),
    ...(outside.match(/<!--|<a |<img|<del|href=/) ?? []),
  ];
}

describe("Markdown of a plan", () => {
  it.each(Object.entries(goldenPlans))("%s", async (folder, made) => {
    const { markdown, html } = render(made);
    expect(faultsIn(html)).toEqual([]);
    await expect(markdown).toMatchFileSnapshot(`../../golden/${folder}/plan.md`);
  });

  it("shows what destroys or disrupts without a click, and folds the rest", () => {
    const { html } = render(samplePlan);
    const open = html.replace(/<details>[\s\S]*?<\/details>/g, "");
    const folded = [...html.matchAll(/<details>[\s\S]*?<\/details>/g)].join("");
    for (const { address, action, disruption, blocked } of samplePlan.changes) {
      if (action === "keep") continue;
      const shown = address.replaceAll('"', "&quot;");
      const dangerous = disruption !== "none" || blocked.length > 0 || ["delete", "replace"].includes(action);
      expect([address, (dangerous ? open : folded).includes(shown)]).toEqual([address, true]);
    }
  });

  it("says what a guard blocks, the way to lift it, and the next command with the saved plan", () => {
    const { markdown } = render(
      plan({
        changes: [
          change("delete", "instances.a", {
            blocked: [{ code: "protect", message: "protected", lift: "--allow-destroy instances.a" }],
          }),
          change("create", "instances.b", { after: database("r", { name: "b" }) }),
        ],
      }),
      { planFile: "my plan" },
    );
    expect(markdown).toContain("! blocked: protected\n! way out: --allow-destroy instances.a\n");
    expect(markdown).toContain("Next: `graphform apply 'my plan'`.");
    expect(markdown).toContain("Plan fingerprint: `sha256-4a1d`");
  });

  it("folds equal changes of many into one block with a count", () => {
    const many = Array.from({ length: 60 }, (_, number) =>
      change("create", `instances.db${number}`, { after: database("r", { name: `db${number}` }) }),
    );
    const { markdown } = render(plan({ changes: many }));
    expect(markdown).toContain("@@ create 60 resources @@");
    expect(markdown.split("\n").length).toBeLessThan(100);
  });

  it("lets nothing break out of code, whatever the words", () => {
    const word = fc.oneof(fc.constantFrom(...hostile), text);
    fc.assert(
      fc.property(
        fc.array(word, { minLength: 6, maxLength: 6 }),
        ([a = "", b = "", c = "", d = "", e = "", f = ""]) => {
          const made = plan({
            name: a,
            fingerprint: b,
            changes: [
              change("update", `instances.${c}`, {
                id: d,
                reason: e,
                disruption: "restart",
                where: { ...at(3), file: f },
                before: database("r", { description: a }),
                after: database("r", { description: b }),
                fields: [field(`config.${c}`, { before: d, after: e, disruption: "restart" })],
                blocked: [{ code: "x", message: f, lift: a }],
              }),
              change("create", `instances.${d}x`, { reason: b, after: database("r", { description: c }) }),
              change("keep", `instances.${e}y`, { phase: { is: "failed", detail: f } }),
            ],
            outputs: { [f]: { action: "create", after: a, unknown: false, sensitive: false } },
          });
          expect(faultsIn(render(made, { planFile: c }).html)).toEqual([]);
          expect(faultsIn(htmlOf(failureMarkdown(new GraphformError("x", a), b, "plan")))).toEqual([]);
        },
      ),
      { numRuns: runs(100) },
    );
  });

  it("of any plan is whole", () => {
    fc.assert(
      fc.property(anyPlan, (made) => {
        expect(faultsIn(render(made).html)).toEqual([]);
      }),
      { numRuns: runs(100) },
    );
  });
});

describe("the budget", () => {
  const wordy = (count: number, size: number): Plan =>
    plan({
      changes: Array.from({ length: count }, (_, number) => {
        const value = `${"`".repeat(number % 9)}ü${"é".repeat(size)}${number}`;
        const fields = [field("config.description", { before: value, after: `${value}!` })];
        const common = { reason: value, fields, where: at(number + 1) };
        if (number % 3 === 0)
          return change("replace", `instances.a${number}`, { ...common, disruption: "data-loss" });
        if (number % 3 === 1) return change("update", `instances.b${number}`, common);
        return change("create", `instances.c${number}`, {
          reason: value,
          after: database("r", { description: value }),
        });
      }),
    });

  it.each([60_000, 20_000, 5_000, 3_000])("of %i bytes is kept, and what is left out is counted", (bytes) => {
    const made = wordy(900, 80);
    const { markdown, html } = render(made, { bytes });
    expect(Buffer.byteLength(markdown)).toBeLessThanOrEqual(bytes);
    expect(Buffer.from(markdown).toString("utf8")).toBe(markdown);
    expect(faultsIn(html)).toEqual([]);
    const left = [...markdown.matchAll(/^(\d+) more left out/gm)].map((match) => Number(match[1]));
    const shown = markdown.match(/^@@ /gm)?.length ?? 0;
    expect(shown + left.reduce((sum, count) => sum + count, 0)).toBe(900);
    // Nothing is shown of a group while a worse one is not whole.
    const sections = markdown.split(/^(?=### |<details>)/m).slice(1);
    const cut = sections.findIndex((section) => section.includes("more left out"));
    for (const section of sections.slice(cut + 1)) expect(section).not.toContain("```");
  });

  it("is used: the report of 900 changes is not much shorter than it may be", () => {
    const { markdown } = render(wordy(900, 80));
    expect(Buffer.byteLength(markdown)).toBeGreaterThan(58_000);
  });

  it("is kept for one block of very many", () => {
    const many = Array.from({ length: 4000 }, (_, number) =>
      change("delete", `instances.${"long".repeat(60)}${number}`, {
        disruption: "data-loss",
        reason: "gone",
      }),
    );
    const { markdown } = render(plan({ changes: many }));
    expect(Buffer.byteLength(markdown)).toBeLessThanOrEqual(60_000);
    // Names come before any detail.
    const named = markdown.match(/`instances\.[^`]*`/g)?.length ?? 0;
    expect(named).toBeGreaterThan(200);
    expect(markdown).toContain(` and ${4000 - named} more: \`graphform plan --json\` has all.`);
    expect(markdown).toContain("4000 more left out");
  });

  it.each([5, 400, 1500])(
    "leaves room for the name of each of %i databases that lose data, before anything else",
    (count) => {
      const many = Array.from({ length: count }, (_, n) =>
        change("delete", `instances.shop["eu-west-${n}"]`, {
          disruption: "data-loss",
          reason: `differs ${n}`,
        }),
      );
      const created = Array.from({ length: count }, (_, n) =>
        change("create", `instances.new${n}`, { reason: `${n}` }),
      );
      const { markdown } = render(plan({ changes: [...created, ...many] }));
      const names = markdown.slice(
        markdown.indexOf(`**Data loss (${count}):** `),
        markdown.indexOf("\n\n### "),
      );
      expect(names.match(/`instances\.shop\["eu-west-\d+"\]`/g)).toHaveLength(count);
      expect(names).not.toContain("instances.new");
      expect(Buffer.byteLength(markdown)).toBeLessThanOrEqual(60_000);
    },
  );

  it("is kept by any plan", () => {
    fc.assert(
      fc.property(anyPlan, fc.integer({ min: 4_000, max: 12_000 }), (made, bytes) => {
        const { markdown, html } = render(made, { bytes });
        expect(Buffer.byteLength(markdown)).toBeLessThanOrEqual(bytes);
        expect(faultsIn(html)).toEqual([]);
      }),
      { numRuns: 60 },
    );
  });
});

describe("the marker", () => {
  it.each([
    ["shop-prod", "<!-- graphform:plan name=shop-prod -->"],
    ["a--b---c", "<!-- graphform:plan name=a-%2Db-%2D-c -->"],
    ["--> <b>", "<!-- graphform:plan name=-%2D%3E%20%3Cb%3E -->"],
  ])("of %j", (name, written) => {
    expect(marker("plan", name)).toBe(written);
  });

  it("is the first line, can be told apart by name, and is one comment, whatever the name", () => {
    fc.assert(
      fc.property(text, text, (one, other) => {
        const [line = ""] = planMarkdown(plan({ name: one }), words).split("\n");
        expect(line).toMatch(/^<!-- graphform:plan name=[^ <>\n]* -->$/);
        expect(line.slice(4, -3)).not.toContain("--");
        if (one.toWellFormed() !== other.toWellFormed()) expect(marker("plan", other)).not.toBe(line);
      }),
    );
  });
});

describe("code", () => {
  it.each(hostile)("%j stays in its span and in its fence", (word) => {
    const span = htmlOf(`a ${codeSpan(word)} b`);
    expect(outsideCode(span)).toMatch(/^<p>a (?:<code\/>|\(empty\)) b<\/p>$/);
    const fenced = htmlOf(fence("diff", [codeSpan(word), "```", word.replaceAll("\n", " ")]));
    expect(outsideCode(fenced).trim()).toBe("<pre><code/></pre>");
  });
});

describe("a plan that could not be made", () => {
  it("lists problems, counts those that it does not list, and has the marker of the plan", () => {
    const problems = Array.from({ length: 23 }, (_, line) => ({
      ...{ code: "yaml", severity: "error" as const, message: `wrong ${line}`, range: at(line + 1) },
    }));
    const written = failureMarkdown(new ManifestError(problems), "shop", "plan");
    expect(written.split("\n")[0]).toBe(marker("plan", "shop"));
    expect(written).toContain("graphform.yaml:20:3: error: wrong 19");
    expect(written).toContain("3 problems more");
    expect(failureMarkdown(new GraphformError("y", "unexpected error: x"), "", "plan")).toContain(
      "error: unexpected error: x",
    );
  });
});
