import { describe, expect, it } from "vitest";
import type { Change, Plan, Step } from "../../src/model/plan.ts";
import { makePalette, textWidth } from "../../src/report/typeset.ts";
import { goldenPlans } from "./golden-plans.ts";
import { change, database, field, plan, step } from "./plan-parts.ts";
import { planText } from "./rendered.ts";
import { samplePlan } from "./sample-plan.ts";
import { words } from "./words.ts";

function lines(made: Plan, width = 80): readonly string[] {
  return planText(made, words, { palette: makePalette(false), width }).split("\n");
}

/** The line that holds a text. */
function lineWith(text: string, made: Plan = samplePlan, width = 110): string {
  return lines(made, width).find((line) => line.includes(text)) ?? `no line with ${text}`;
}

describe("planText", () => {
  it("groups worst first", () => {
    const titles = lines(samplePlan).filter((line) => /^[A-Z][a-z ]+\(\d+\)/.test(line));
    expect(titles.map((title) => title.replace(/ ·.*/, ""))).toEqual([
      "Blocked (2)",
      "Data loss (1)",
      "Restarts (1)",
      "Quiet updates (1)",
      "New (1)",
      "Bindings (2)",
      // Once more by name, before the question.
      "Data loss (1)",
      "Restarts (1)",
    ]);
  });

  it.each([80, 120])(
    "names everything that loses data, is replaced or restarted, last, at %i columns",
    (width) => {
      const disrupted = (["delete", "replace", "update"] as const).flatMap((action) =>
        Array.from({ length: 120 }, (_, n) =>
          change(action, `instances.${action}["${n}"]`, {
            disruption: action === "update" ? "restart" : action === "replace" ? "downtime" : "data-loss",
          }),
        ),
      );
      const held = change("delete", "instances.held", {
        disruption: "data-loss",
        blocked: [{ code: "protect", message: "protected", lift: "x" }],
      });
      const text = lines(
        plan({ changes: [...disrupted, held, change("create", "instances.new", {})] }),
        width,
      );
      const last = text.slice(text.lastIndexOf("Data loss (120)"));
      expect(last.filter((line) => textWidth(line) > width)).toEqual([]);
      const names = last.join(" ").match(/instances\.\w+(?:\["\d+"\])?/g);
      expect([...(names ?? [])].sort()).toEqual(disrupted.map(({ address }) => address).sort());
      expect(last.filter((line) => /^\S/.test(line))).toEqual([
        "Data loss (120)",
        "Replaced and deleted (120)",
        "Restarts (120)",
        "1 of these is blocked: apply carries out the rest and exits 4.",
        "Plan: 121 to add, 120 to change, 240 to destroy.",
      ]);
    },
  );

  it("counts those that are more than some hundreds, and says what has all", () => {
    const many = Array.from({ length: 501 }, (_, n) =>
      change("delete", `instances.a${n}`, { disruption: "data-loss" }),
    );
    const page = { palette: makePalette(false), width: 80 };
    const text = planText(plan({ changes: many }), words, page, { planFile: "p" });
    expect(text).toContain("  and 1 more: graphform show p --json has them\n");
    expect(text).toContain("the first 500 are named below");
    expect(text).not.toContain("all are named below");
  });

  it("puts each change in one group, and what is kept in none", () => {
    const text = lines(samplePlan).join("\n");
    for (const { action, address } of samplePlan.changes) {
      const heads = text
        .split("\n")
        .filter((line) => new RegExp(`^  [^ …] ${address.replace(/[[\]"]/g, "\\$&")}( |$)`).test(line));
      expect([address, heads.length]).toEqual([address, action === "keep" ? 0 : 1]);
    }
  });

  it("ends with the line that scripts read, where there is something to do and where there is nothing", () => {
    expect(lines(samplePlan).slice(-2)).toEqual(["Plan: 1 to add, 2 to change, 1 to destroy.", ""]);
    const nothing = lines(plan({}));
    expect(nothing.slice(-3)).toEqual([
      "No differences found.",
      "Plan: 0 to add, 0 to change, 0 to destroy.",
      "",
    ]);
  });

  it.each([
    [
      { probed: 0, described: 49, echoed: 3, recorded: 88 },
      "88 of 140 values are as last applied or imported and were not checked.",
    ],
    [
      { probed: 1, described: 0, echoed: 0, recorded: 1 },
      "1 of 2 values is as last applied or imported and was not checked.",
    ],
  ])("claims nothing of values that nobody looked at (%j)", (fields, words) => {
    const made = plan({});
    const text = lines({ ...made, census: { ...made.census, fields } }).join(" ");
    expect(text).toContain(`No differences found. ${words}`);
    expect(text).not.toMatch(/What runs is|as declared/);
  });

  it("does not say that nothing differs if it leaves as it is what was changed outside", () => {
    const drift = [
      field("config.AOFPersistenceConfig", { before: "always", after: "off", wayOut: "restart it" }),
    ];
    const text = lines(plan({ changes: [change("keep", "instances.a", { drift })] })).join(" ");
    expect(text).toContain("Nothing to apply: 1 resource was changed outside, and apply leaves it as it is.");
    expect(text).toContain("# restart it");
    expect(text).not.toContain("No differences found");
  });

  it("says what still runs, waits or failed where nothing else is left", () => {
    const phase = (is: "pending" | "failed" | "waiting-for-person"): Partial<Change> => ({
      phase: { is, detail: is },
    });
    const changes = [
      change("keep", "instances.a", phase("pending")),
      change("keep", "instances.b", phase("pending")),
      change("keep", "instances.c", phase("failed")),
      change("keep", "instances.d", phase("waiting-for-person")),
    ];
    expect(lines(plan({ changes })).join(" ")).toContain(
      "No differences found. 2 operations are still running; apply will wait. 1 resource waits for a person. 1 resource failed.",
    );
  });

  it("names what binding takes from the manifest because the service does not show it", () => {
    const before = { "config.name": "a" };
    const after = { "config.name": "a", "config.nodeInstanceType": "m7g.large", power: "running" };
    const text = lines(plan({ changes: [change("adopt", "instances.a", { id: "i-1", before, after })] }));
    expect(text).toContain("    ? not shown by the service, taken from your file: nodeInstanceType, power");
  });

  it("says of a stopped one that it is started for its update, and of no other", () => {
    const operate = (verb: string): Step => step("operate", `instances.a#${verb}`, { verb });
    const steps = [operate("start"), step("update", "instances.a"), operate("stop")];
    const rest = { reason: "1 field differs", fields: [field("config.name", { before: "a", after: "b" })] };
    const text = (steps: readonly Step[]): string =>
      lines(plan({ changes: [change("update", "instances.a", rest)], steps })).join("\n");
    expect(text(steps)).toContain("1 field differs; started for that, and stopped again");
    expect(text(steps.slice(0, 2))).not.toContain("started");
  });

  it("counts a replacement twice, and what is blocked not at all", () => {
    const blocked = [{ code: "protect", message: "protected", lift: "x" }];
    const made = plan({
      changes: [change("replace", "instances.a", {}), change("delete", "instances.b", { blocked })],
    });
    expect(lines(made).slice(-3, -1)).toEqual([
      "1 of these is blocked: apply carries out the rest and exits 4.",
      "Plan: 1 to add, 0 to change, 1 to destroy.",
    ]);
  });

  it("marks the fields that force a replacement, and no other", () => {
    const marked = lines(samplePlan, 110).filter((line) => line.includes("# forces replacement"));
    expect(marked.map((line) => line.trim().split(/ +/)[1])).toEqual(["config.graphDBCacheSize", "region"]);
  });

  it("says where a value comes from when it was not described", () => {
    expect(lineWith("graphDBCacheSize")).toContain("25 (remembered) →");
    expect(lineWith('catalogue" (')).toContain("(echoed back)");
    expect(lineWith("maxMemory")).not.toContain("described");
    expect(lineWith("maxMemory", goldenPlans["104-adopt-move-incomplete"])).toContain(
      '"6GB" (read from the database) →',
    );
  });

  it("shows place, reason, disruption and every guard with its way out", () => {
    expect(lineWith("± instances.orders")).toMatch(
      /^ {2}± instances\.orders \(instance-7c1e09\) +graphform\.yaml:34$/,
    );
    const text = lines(samplePlan).join("\n");
    expect(text).toContain("replace: region cannot be changed in place · data loss");
    for (const { message, lift } of samplePlan.changes.flatMap((entry) => entry.blocked)) {
      expect(text).toContain(`✗ ${message}\n      way out: ${lift}`);
    }
  });

  it("prints neither side of a secret, sealed or not", () => {
    const clear = plan({
      changes: [
        change("update", "instances.a", {
          fields: [field("config.graphdbPassword", { before: "hunter2", after: "hunter3" })],
        }),
        change("create", "instances.b", { after: database("r", { graphdbPassword: "hunter4" }) }),
      ],
    });
    expect(lineWith("config.graphdbPassword", clear)).toContain("(sensitive) → (sensitive)");
    expect(lines(clear).join("\n")).not.toContain("hunter");
    expect(lines(samplePlan).join("\n")).not.toContain("hmac-");
  });

  it("says what is known only after apply", () => {
    expect(lineWith("cacheEndpoint")).toMatch(/\+ cacheEndpoint +\(known after apply\)$/);
    expect(lineWith("ordersUrl")).toContain('→ "rediss://${instances.orders.host}:6379"');
    expect(lines(samplePlan).join("\n")).not.toContain("searchPort");
  });

  it("tells drift that is put back from drift that is left alone", () => {
    expect(lineWith("changed outside")).toMatch(/"4GB" +→ "6GB" +# restart, changed outside$/);
    const elsewhere = change("update", "instances.a", {
      fields: [field("config.name", { before: "x", after: "z" })],
      drift: [
        field("config.name", { before: "y", after: "x" }),
        field("config.description", { before: "p", after: "q" }),
      ],
    });
    expect(lineWith("config.name", plan({ changes: [elsewhere] }))).toContain('# changed outside, was "y"');
    expect(lineWith("config.description", plan({ changes: [elsewhere] }))).toContain(
      '"p" → "q"  # changed outside, left as it is',
    );
  });

  it("mentions what is as declared and not at rest", () => {
    const text = lines(samplePlan, 80).join("\n");
    expect(text).toMatch(/… instances\.vault \(instance-33ab10\) .*\n {4}still DEPLOYING; apply will wait\n/);
    const failed = change("keep", "instances.a", { phase: { is: "failed", detail: "FAILED: no room" } });
    expect(lines(plan({ changes: [failed] })).join("\n")).toContain(
      "  ! instances.a\n    the service says FAILED: no room\n",
    );
  });

  it("marks an incomplete plan at both ends", () => {
    const made = lines(plan({ complete: false, census: { ...samplePlan.census, declared: 9, skipped: 7 } }));
    expect(made[0]).toBe("Plan for shop-prod (incomplete)");
    expect(made).toContain("Incomplete: --target or --exclude left out 7 of 9 declared.");
    expect(made.join("\n")).toContain("No differences found in what was checked.");
  });

  it("is incomplete where a database could not be asked, and says so", () => {
    const notProbed = [
      { address: "instances.a", reason: "it did not answer in time", failed: true },
    ] as const;
    const census = { ...samplePlan.census, declared: 9, skipped: 0, probed: 8, notProbed };
    expect(lines(plan({ complete: false, census }))).toContain("Incomplete: 1 database gave no answer.");
  });

  it.each([60, 80, 110, 140])("keeps to %i columns, and breaks no word", (width) => {
    const wide = lines(samplePlan, width).filter((line) => textWidth(line) > width);
    // A line that is too wide is one word, behind its sign.
    expect(wide.filter((line) => line.trim().replace(/^\S+ /, "").includes(" "))).toEqual([]);
    const told = (made: readonly string[]): string => made.join(" ").replace(/\s+/g, "");
    const letters = (text: string): string => [...text].sort().join("");
    expect(letters(told(lines(samplePlan, width)))).toBe(letters(told(lines(samplePlan, 300))));
  });

  it("is the same text with and without colours", () => {
    const coloured = planText(samplePlan, words, { palette: makePalette(true), width: 80 });
    expect(coloured).toContain("\u001b[31m");
    // biome-ignore lint/suspicious/noControlCharactersInRegex: colours are control characters.
    expect(coloured.replace(/\u001b\[\d+m/g, "")).toBe(lines(samplePlan).join("\n"));
  });
});
