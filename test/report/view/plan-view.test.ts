import { describe, expect, it } from "vitest";
import type { Change, Plan } from "../../../src/model/plan.ts";
import type { ReportView } from "../../../src/report/view/report-view.ts";
import { growth } from "../../support/work.ts";
import { goldenPlans } from "../golden-plans.ts";
import { at, change, database, field, plan, sealed, step } from "../plan-parts.ts";
import { planView } from "../rendered.ts";
import { samplePlan } from "../sample-plan.ts";
import { words } from "../words.ts";

const view = (rest: Partial<Plan>): ReportView => planView(plan(rest), words);
const resized = (address: string, rest: Partial<Change> = {}): Change =>
  change("update", address, {
    id: `id-of-${address}`,
    reason: "1 field differs",
    disruption: "restart",
    where: at(address.length),
    fields: [field("config.maxMemory", { before: "4GB", after: "6GB", disruption: "restart" })],
    ...rest,
  });
const lost = (address: string): Change =>
  change("delete", address, { reason: "no longer declared", disruption: "data-loss" });
const guard = (address: string) => ({
  code: "protect",
  message: "protected",
  lift: `--allow-destroy ${address}, or lifecycle.protect: false`,
});
const output = { action: "update", before: 1, after: 2, unknown: false, sensitive: false } as const;

describe("the verdict", () => {
  it.each<[string, Partial<Plan>, string, string]>([
    ["nothing", {}, "good", "No differences found."],
    ["a part of it looked at", { complete: false }, "good", "No differences found in what was checked."],
    [
      "what apply leaves as it is was changed outside",
      {
        changes: ["instances.a", "instances.b"].map((address) =>
          change("keep", address, {
            drift: [field("config.rows", {})],
            phase: { is: "ready", detail: "RUNNING" },
          }),
        ),
      },
      "good",
      "Nothing to apply: 2 resources were changed outside, and apply leaves them as they are.",
    ],
    ["one change", { changes: [resized("instances.a")] }, "careful", "1 change."],
    ["outputs alone", { outputs: { a: output, b: output } }, "careful", "2 outputs change."],
    [
      "some blocked",
      { changes: [resized("instances.a"), { ...lost("instances.b"), blocked: [guard("instances.b")] }] },
      "bad",
      "2 changes, 1 blocked.",
    ],
    [
      "all blocked",
      { changes: [{ ...lost("instances.b"), blocked: [guard("x")] }] },
      "bad",
      "1 change, all blocked.",
    ],
    [
      "data lost, of one with a backup",
      { changes: [lost("instances.a"), { ...lost("instances.b"), backupFirst: true }] },
      "bad",
      "2 changes, data of 2 databases would be lost, 1 backed up first.",
    ],
    ["a bad day", samplePlan, "bad", "8 changes, 2 blocked, data of 1 database would be lost."],
  ])("%s", (_, given, tone, verdict) => {
    expect(view(given)).toMatchObject({ tone, verdict });
  });

  it.each<[string, Partial<Plan>, string | undefined, string]>([
    ["nothing", {}, undefined, "nothing to apply"],
    ["something still runs", { steps: [step("wait", "instances.a")] }, "graphform apply p.plan", "waits"],
    [
      "changes",
      { changes: [resized("instances.a")] },
      "graphform apply p.plan",
      "this plan and nothing else",
    ],
    [
      "all blocked",
      { changes: [{ ...lost("instances.a"), blocked: [guard("x")] }] },
      undefined,
      "Lift a guard",
    ],
    ["a bad day", samplePlan, "graphform apply p.plan", "exits 4"],
  ])("names the next command: %s", (_, given, command, text) => {
    const { next } = planView(plan(given), words, { planFile: "p.plan" });
    expect(next.command).toBe(command);
    expect(next.text).toContain(text);
  });

  it("quotes a file name for the shell, and plans again where nothing was saved", () => {
    const given = plan({ changes: [resized("instances.a")] });
    expect(planView(given, words, { planFile: "it's; rm" }).next.command).toBe(
      "graphform apply 'it'\\''s; rm'",
    );
    expect(planView(given, words).next).toMatchObject({ command: "graphform apply" });
  });
});

describe("blocks", () => {
  const blocks = (changes: readonly Change[]) => view({ changes }).groups.flatMap((group) => group.blocks);
  const created = (address: string, name: string, region = "us-east-1"): Change =>
    change("create", address, {
      reason: "does not exist yet",
      after: database(region, { name, graphdbPassword: sealed(name) }),
    });

  it("say of a stopped database that it is started for its backup", () => {
    const stopped = { is: "stopped", detail: "STOPPED" } as const;
    const saved = { ...lost("instances.a"), backupFirst: true };
    const textsOf = (rest: Partial<Change>): readonly string[] =>
      blocks([{ ...saved, ...rest }]).flatMap(({ remarks }) =>
        remarks.filter(({ is }) => is === "backup").map(({ text }) => text),
      );
    const first = "backed up first: nothing is deleted before the backup is complete";
    expect(textsOf({})).toEqual([first]);
    expect(textsOf({ phase: stopped })).toEqual([`started, since a backup needs that, and ${first}`]);
  });

  it.each<[string, readonly Change[], readonly (readonly string[])[]]>([
    [
      "equal changes are one",
      [resized("instances.b"), resized("instances.a")],
      [["instances.a", "instances.b"]],
    ],
    [
      "another value is another block",
      [
        resized("instances.a"),
        resized("instances.b", { fields: [field("config.maxMemory", { before: "4GB", after: "8GB" })] }),
      ],
      [["instances.a"], ["instances.b"]],
    ],
    [
      "so is another source",
      [
        resized("instances.a"),
        resized("instances.b", {
          fields: [
            field("config.maxMemory", {
              before: "4GB",
              after: "6GB",
              disruption: "restart",
              source: "recorded",
            }),
          ],
        }),
      ],
      [["instances.a"], ["instances.b"]],
    ],
    [
      "another guard",
      [resized("instances.a", { blocked: [guard("instances.a")] }), resized("instances.b")],
      [["instances.a"], ["instances.b"]],
    ],
    [
      "guards that differ in the address alone are equal",
      ["instances.a", "instances.b"].map((address) => resized(address, { blocked: [guard(address)] })),
      [["instances.a", "instances.b"]],
    ],
    [
      "values that differ in the forEach key alone are equal",
      [created('instances.c["eu"]', "cache-eu"), created('instances.c["us"]', "cache-us")],
      [['instances.c["eu"]', 'instances.c["us"]']],
    ],
    [
      "a key that is part of another word is not a difference of keys",
      [created('instances.c["1"]', "a", "zone10"), created('instances.c["2"]', "a", "zone20")],
      [['instances.c["1"]'], ['instances.c["2"]']],
    ],
    [
      "long values that differ where they are cut",
      ["a", "b"].map((name) =>
        resized(`instances.${name}`, {
          fields: [
            field("config.description", {
              before: "",
              after: `${"x".repeat(300)}${name}y${"x".repeat(300)}`,
            }),
          ],
        }),
      ),
      [["instances.a"], ["instances.b"]],
    ],
    [
      "secrets are equal: none of them is shown",
      ["a", "b"].map((name) =>
        resized(`instances.${name}`, {
          fields: [
            field("config.graphdbPassword", {
              before: sealed(name),
              after: sealed(`${name}2`),
              secret: true,
            }),
          ],
        }),
      ),
      [["instances.a", "instances.b"]],
    ],
  ])("%s", (_, changes, addresses) => {
    expect(blocks(changes).map((block) => block.addresses.map(({ address }) => address))).toEqual(addresses);
  });

  it("names what differs within a block, and keeps what does not", () => {
    const [block] = blocks([
      { ...created('instances.c["eu"]', "cache-eu"), blocked: [guard('instances.c["eu"]')] },
      { ...created('instances.c["us"]', "cache-us"), blocked: [guard('instances.c["us"]')] },
    ]);
    expect(block?.remarks[0]?.remedy).toBe("--allow-destroy ADDRESS, or lifecycle.protect: false");
    const values = block?.fields.map(({ path, after }) => [path, after]) ?? [];
    expect(Object.fromEntries(values)).toMatchObject({
      region: '"us-east-1"',
      "config.name": '"cache-KEY"',
      "config.graphdbPassword": "(sensitive)",
    });
  });

  it("has no placeholder in a block of one", () => {
    const [block] = blocks([resized("instances.a", { blocked: [guard("instances.a")] })]);
    expect(block?.remarks[0]?.remedy).toContain("--allow-destroy instances.a,");
    expect(block?.addresses).toEqual([
      { address: "instances.a", id: "id-of-instances.a", where: "graphform.yaml:11" },
    ]);
  });
});

describe("the rest", () => {
  it("sums disruption up, worst first, the blocked apart", () => {
    expect(planView(samplePlan, words).disruption).toEqual([
      { disruption: "data-loss", count: 1, blocked: 1 },
      { disruption: "restart", count: 1, blocked: 0 },
      { disruption: "none", count: 4, blocked: 1 },
    ]);
  });

  it("has the fields that force a replacement first, with their source", () => {
    const [block] = planView(samplePlan, words).groups[0]?.blocks ?? [];
    expect(block?.fields.map(({ path, role, source }) => [path, role, source])).toEqual([
      ["config.graphDBCacheSize", "replaces", "recorded"],
      ["region", "replaces", "described"],
      ["config.maxMemory", "changed", "described"],
    ]);
  });

  it("says of a reference that keeps its name what changes: the object that it names", () => {
    const fields = [field("instance", { before: "orders", after: "orders", effect: "replace" })];
    const reader = change("replace", "users.reader", { disruption: "downtime", fields });
    const [block] = view({ changes: [reader] }).groups[0]?.blocks ?? [];
    expect(block?.fields).toMatchObject([{ before: '"orders"', after: '"orders" (new id after apply)' }]);
  });

  it("notes what is not ready and what was changed outside", () => {
    const { groups } = planView(goldenPlans["106-gone-failed-waiting-drifted"] ?? plan({}), words);
    const { blocks } = groups.at(-1) ?? { blocks: [] };
    expect(blocks.map(({ word, addresses, reason }) => [word, addresses[0]?.address, reason])).toEqual([
      [
        "waiting for a person",
        "cloudAccounts.prod",
        "waits for a person: PENDING: run the bootstrap in the account",
      ],
      ["drifted", "instances.wiki", "changed outside, left as it is"],
    ]);
    expect(blocks[1]?.fields.map(({ before, after }) => [before, after])).toEqual([
      ['"the wiki"', '"edited by hand"'],
    ]);
  });

  it("lists fields that a binding did not check", () => {
    const unseen = change("adopt", "instances.a", {
      before: database("us-east-1", { name: "a" }),
      after: database("us-east-1", { name: "a", description: "x" }),
    });
    expect(view({ changes: [unseen] }).groups[0]?.blocks[0]?.remarks).toMatchObject([
      { is: "unchecked", text: "not shown by the service, taken from your file: description" },
    ]);
  });

  it("is plain data without secrets", () => {
    for (const given of Object.values(goldenPlans)) {
      const found = planView(given, words);
      expect(JSON.parse(JSON.stringify(found))).toEqual(found);
      expect(JSON.stringify(found)).not.toContain("5b1f0c77");
    }
  });

  it("folds ten times as many changes with at most sixteen times the work", async () => {
    const changes = (count: number): readonly Change[] =>
      Array.from({ length: count }, (_, at) => resized(`instances.a["${at}"]`));
    expect(view({ changes: changes(2000) }).groups[0]?.blocks).toHaveLength(1);
    expect(await growth((changes) => view({ changes }), changes(100), changes(1000))).toBeLessThan(16);
  });
});
