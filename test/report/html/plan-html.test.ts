import { describe, expect, it } from "vitest";
import { GraphformError, ManifestError } from "../../../src/model/errors.ts";
import { failureHtml } from "../../../src/report/html/report-html.ts";
import { goldenPlans } from "../golden-plans.ts";
import { change, field, plan, sealed } from "../plan-parts.ts";
import { planJson } from "../rendered.ts";
import { samplePlan } from "../sample-plan.ts";
import { words } from "../words.ts";
import { assets, connectedPlan, hostilePlan, largePlan, pageOf } from "./pages.ts";

const all = Object.entries({
  ...goldenPlans,
  connected: connectedPlan,
  hostile: hostilePlan,
  large: largePlan,
});

/** The contents of each element of a name. */
function elements(page: string, name: string): readonly string[] {
  return [...page.matchAll(new RegExp(`<${name}\\b[^>]*>([\\s\\S]*?)</${name}>`, "g"))].map(
    (match) => match[1] ?? "",
  );
}

/** The page without script, style and data. */
function bodyOf(page: string): string {
  return page.replace(/<(script|style)\b[^>]*>[\s\S]*?<\/\1>/g, "");
}

describe.each(all)("the page of %s", (_, given) => {
  const page = pageOf(given, { planFile: "it's.plan", earlier: { plan: samplePlan, file: "<old>.plan" } });

  it("has one style, one script and the plan's JSON, which parses back", () => {
    const [data, ...scripts] = elements(page, "script");
    expect(scripts).toHaveLength(1);
    expect(elements(page, "style")).toHaveLength(1);
    expect(JSON.parse(data ?? "")).toEqual(JSON.parse(JSON.stringify(planJson(given, words))));
  });

  it("allows by its policy what it has, and nothing else", () => {
    const policy = /Content-Security-Policy" content="([^"]*)"/.exec(page)?.[1] ?? "";
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain(`script-src 'sha256-${assets.sha256(elements(page, "script")[1] ?? "")}'`);
    expect(policy).toContain(`style-src 'sha256-${assets.sha256(elements(page, "style")[0] ?? "")}'`);
    expect(policy).not.toContain("unsafe");
  });

  it("loads nothing, and has neither handlers nor styles that the policy would refuse", () => {
    const tags = bodyOf(page).match(/<[a-z][^>]*>/g) ?? [];
    expect(tags.length).toBeGreaterThan(10);
    const names = tags.map((tag) => tag.replace(/"[^"]*"/g, '""'));
    expect(names.filter((tag) => /\s(src|srcset|action|on\w+|style|data)\s*=/.test(tag))).toEqual([]);
    expect(tags.filter((tag) => /\shref=/.test(tag) && !/\shref="#[\w-]+"/.test(tag))).toEqual([]);
    expect(names.filter((tag) => /^<(img|iframe|object|embed|link|base)\b/.test(tag))).toEqual([]);
    expect(elements(page, "style")[0]).not.toMatch(/url\(|@import|@font-face/);
  });

  it("shows no control or bidi character, and no fingerprint of a secret", () => {
    expect(page.replaceAll("\n", "")).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/u);
    expect(page).not.toContain("5b1f0c77");
  });

  it("has every id once, and a target for every link", () => {
    const ids = [...bodyOf(page).matchAll(/\sid="([^"]*)"/g)].map((match) => match[1]);
    expect(new Set(ids).size).toBe(ids.length);
    for (const [, target] of bodyOf(page).matchAll(/href="#([^"]*)"/g)) expect(ids).toContain(target);
    for (const [, label] of bodyOf(page).matchAll(/aria-labelledby="([^"]*)"/g)) expect(ids).toContain(label);
  });
});

describe("what a page says", () => {
  const text = (page: string): string =>
    bodyOf(page)
      .replace(/<[^>]*>/g, " ")
      .replace(/\s+/g, " ");

  it("has the verdict and the next command before everything else", () => {
    const page = text(pageOf(connectedPlan, { planFile: "shop.plan" }));
    expect(page.indexOf("8 changes, 2 blocked, data of 1 database would be lost.")).toBeLessThan(300);
    expect(page.indexOf("graphform apply shop.plan")).toBeLessThan(300);
  });

  it.each([
    ["guards with their way out", "Way out: --allow-destroy instances.orders, or lifecycle.protect: false"],
    ["file and line", "instance-7c1e09 · graphform.yaml:34"],
    ["the source of a value", "25 remembered"],
    ["the critical path", "+2m10s creating instances.cache[&quot;eu-west-1&quot;] 10m00s"],
    ["the census", "41 values read from the service"],
    ["disruption, the blocked apart", "1 data loss (and 1 blocked)"],
    ["the picture in words", "users.reader refers to instances.orders"],
    ["unchanged neighbours", "networks.core"],
    [
      "what is not ready",
      "instances.vault running instance-33ab10 · graphform.yaml:44 still DEPLOYING; apply will wait.",
    ],
    ["outputs", "sessionsPassword (sensitive) (sensitive)"],
    [
      "a replaced value",
      "&quot;us-east-1&quot; read from the service &quot;eu-west-1&quot; forces replacement",
    ],
  ])("%s", (_, wanted) => {
    expect(text(pageOf(connectedPlan))).toContain(wanted);
  });

  it("folds equal changes and lists all of their addresses", () => {
    const page = text(pageOf(largePlan));
    expect(page).toContain("60 × instances.cache[…]");
    expect(page).toContain("All 60 addresses");
    expect(page).toContain("instances.cache[&quot;59&quot;] graphform.yaml:900");
  });

  it("has worst groups first", () => {
    const titles = elements(pageOf(connectedPlan), "h2").map((title) => title.replace(/ \(.*/s, ""));
    expect(titles).toEqual([
      // By name, before all else.
      "Data loss",
      "Restarts",
      "Checked",
      "Disruption",
      "Forecast",
      "Blocked",
      "Data loss",
      "Restarts",
      "Quiet updates",
      "New",
      "Bindings",
      "Not ready, changed outside, or kept",
      "Outputs",
      "Changed resources and their neighbours",
    ]);
  });

  it("says that there is no picture where nothing refers to anything, and leaves out one of too many nodes", () => {
    expect(pageOf(largePlan)).not.toContain("<svg role");
    const wide = Array.from({ length: 80 }, (_, n) =>
      change("update", `instances.db-${n}`, { reason: `${n} differs`, refs: ["networks.core"] }),
    );
    const page = pageOf(plan({ changes: [change("keep", "networks.core", {}), ...wide] }));
    expect(text(page)).toContain("too many for a picture: 81");
    expect(text(page)).toContain("instances.db-79 refers to networks.core");
  });
});

describe("the comparison with an earlier plan", () => {
  const resized = (address: string, after: string) =>
    change("update", address, {
      reason: "1 field differs",
      fields: [field("config.maxMemory", { before: "4GB", after })],
    });
  const secret = (name: string) =>
    change("update", "instances.s", {
      reason: "1 field differs",
      fields: [field("config.graphdbPassword", { before: sealed("x"), after: sealed(name), secret: true })],
    });
  const guard = { code: "protect", message: "protected", lift: "x" };

  it.each([
    [
      "the same plan",
      [resized("instances.a", "6GB")],
      [resized("instances.a", "6GB")],
      "f",
      ["The same plan."],
    ],
    [
      "the same changes",
      [resized("instances.a", "6GB")],
      [resized("instances.a", "6GB")],
      "g",
      ["The same changes, planned from another state."],
    ],
    [
      "new and gone",
      [resized("instances.a", "6GB")],
      [resized("instances.b", "6GB")],
      "g",
      ["2 differences, no changes as before.", "gone instances.a", "new instances.b"],
    ],
    [
      "another value",
      [resized("instances.a", "6GB")],
      [resized("instances.a", "8GB")],
      "g",
      ["config.maxMemory: &quot;4GB&quot; → &quot;8GB&quot;, was: &quot;4GB&quot; → &quot;6GB&quot;"],
    ],
    [
      "another secret, not shown",
      [secret("a")],
      [secret("b")],
      "g",
      ["config.graphdbPassword: another secret"],
    ],
    [
      "a guard",
      [resized("instances.a", "6GB")],
      [{ ...resized("instances.a", "6GB"), blocked: [guard] }],
      "g",
      ["blocked now: protect"],
    ],
    [
      "equal differences of many",
      [],
      ["a", "b", "c"].map((name) => resized(`instances.${name}`, "6GB")),
      "g",
      ["3 differences", "and 2 more"],
    ],
  ])("%s", (_, before, after, fingerprint, wanted) => {
    const earlier = { plan: plan({ changes: before, fingerprint: "f" }), file: "old.plan" };
    const page = bodyOf(pageOf(plan({ changes: after, fingerprint }), { earlier }));
    const text = page.replace(/<[^>]*>/g, " ").replace(/\s+/g, " ");
    for (const part of ["old.plan", ...wanted]) expect(text).toContain(part);
    expect(text).not.toContain("hmac");
  });
});

describe("the page of a plan that could not be made", () => {
  it("says why and what to do, and escapes it", () => {
    const page = failureHtml(new GraphformError("x", "<b>gone</b>", { hint: "look & see" }), assets, "plan");
    expect(page).toContain("No plan: &lt;b&gt;gone&lt;/b&gt;");
    expect(page).toContain("look &amp; see");
    expect(JSON.parse(elements(page, "script")[0] ?? "")).toMatchObject({ errored: true });
  });

  it("lists the problems of a manifest", () => {
    const range = { file: "a.yaml", start: { line: 4, column: 1 }, end: { line: 4, column: 2 } };
    const page = failureHtml(
      new ManifestError([
        { code: "x", severity: "error", message: "unknown field", range, hint: "leave it out" },
      ]),
      assets,
      "plan",
    );
    expect(bodyOf(page)).toContain("<code>a.yaml:4</code> error: unknown field");
  });
});
