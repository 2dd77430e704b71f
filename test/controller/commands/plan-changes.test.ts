import fc from "fast-check";
import { expect, it } from "vitest";
import { changeLines } from "../../../src/commands/fleet/plan-changes.ts";
import type { Plan } from "../../../src/model/plan.ts";
import { jsonText, makePalette, textWidth } from "../../../src/report/typeset.ts";
import { anyPlan, secret } from "../../report/arbitraries.ts";
import { change, database, field, plan, sealed } from "../../report/plan-parts.ts";
import { planJson, planText } from "../../report/rendered.ts";
import { samplePlan } from "../../report/sample-plan.ts";
import { words } from "../../report/words.ts";

const page = { palette: makePalette(false), width: 80 };
const shown = (given: Plan): readonly string[] =>
  changeLines(JSON.parse(jsonText(planJson(given, words))), "THE-PLAN", page);

it("shows each changed field of a document before and after, those that disrupt most first, as a plan does", () => {
  const lines = shown(samplePlan);
  expect(lines.slice(0, 15)).toEqual([
    "  ± instances.orders (instance-7c1e09)",
    "    replace: region cannot be changed in place · data loss",
    "    ± config.graphDBCacheSize  (not known) → 100          # forces replacement",
    '    ± region                   "us-east-1" → "eu-west-1"  # forces replacement',
    '    ~ config.maxMemory         "6GB"       → "8GB"        # restart',
    "    ✗ protected",
    "      way out: --allow-destroy instances.orders, or lifecycle.protect: false",
    "    ✗ region needs a replacement, which is refused: the new one starts empty",
    "      way out: --replace instances.orders, or lifecycle.onReplace: recreate",
    "  - instances.trial (instance-f00d42)",
    "    delete: no longer declared · data loss",
    "  ~ instances.sessions (instance-a2204f)",
    "    update: 2 fields differ · restart",
    "    ~ config.graphdbPassword  (sensitive) → (sensitive)  # restart",
    '    ~ config.maxMemory        "4GB"       → "6GB"     # restart, changed outside',
  ]);
  expect(lines.filter((line) => textWidth(line) > page.width)).toEqual([]);
  const fields = (text: readonly string[]): readonly string[] =>
    text.filter((line) => /^ {4,6}[~+→] /.test(line)).map((line) => line.replaceAll(/ +/g, " "));
  const whole = planText(samplePlan, words, page).split("\n");
  expect(fields(whole)).toEqual(expect.arrayContaining([...fields(lines)]));
  expect(lines).toContain("  + cacheEndpoint     (known after apply)");
});

it("says which values, and which entries of a list, are known only after the apply", () => {
  const ref = { $ref: "instances.b.host" };
  const after = { ...database("us-east-1", {}), hosts: ["a", { $template: ["x", ref] }], peer: ref };
  const before = { ...database("us-east-1", {}), hosts: ["a"], peer: "b" };
  const fields = [
    field("hosts", { before: before.hosts, after: after.hosts }),
    field("peer", { before: before.peer, after: after.peer }),
  ];
  expect(shown(plan({ changes: [change("update", "instances.a", { before, after, fields })] }))).toEqual(
    expect.arrayContaining([
      expect.stringMatching(/^ {4}~ hosts +\["a"\] +→ \["a","\$\{known after apply\}"\]$/),
      expect.stringMatching(/^ {4}~ peer +"b" +→ \(known after apply\)$/),
    ]),
  );
});

it("counts the changes of a large plan behind the first ones, and shows equal ones as one", () => {
  const update = (at: number, tag: string) =>
    change("update", `instances.a${at}`, {
      fields: [field("tag", { before: "", after: tag })],
      before: { tag: "" },
    });
  const names = Array.from({ length: 100 }, (_, at) => at);
  const different = shown(plan({ changes: names.map((at) => update(at, `tag${at ** 2 + 1000}`)) }));
  expect(different.filter((line) => line.startsWith("  ~ "))).toHaveLength(40);
  expect(different).toContain("  and 60 changes more: THE-PLAN has all");
  expect(shown(plan({ changes: names.map((at) => update(at, "same")) }))).toEqual(
    expect.arrayContaining([
      "  ~ 100 × instances.…",
      "    · and 94 more: THE-PLAN has all",
      '    ~ tag  "" → "same"',
    ]),
  );
});

it("shows no secret and no control character of any document", () => {
  fc.assert(
    fc.property(anyPlan, (given) => {
      const text = shown(given).join("");
      expect(text).not.toContain(secret);
      expect(text).not.toMatch(/[\p{Cc}\p{Cf}]/u);
    }),
  );
  const fields = [field("config.graphdbPassword", { before: sealed("a"), after: sealed("b"), secret: true })];
  const lines = shown(plan({ changes: [change("update", "instances.a", { fields })] }));
  expect(lines).toContain("    ~ config.graphdbPassword  (sensitive) → (sensitive)");
});
