import { createHash } from "node:crypto";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Ajv } from "ajv";
import { describe, expect, it } from "vitest";
import type { Problem } from "../../../src/model/errors.ts";
import type { Plan } from "../../../src/model/plan.ts";
import { guardRules } from "../../../src/report/sarif/findings.ts";
import { problemFindings, problemRules } from "../../../src/report/sarif/problem-findings.ts";
import { type ReportFinding, type SarifContext, sarifLog } from "../../../src/report/sarif/sarif-log.ts";
import { sarifSchema } from "../../support/sarif-schema.ts";
import { goldenPlans } from "../golden-plans.ts";
import { at, change, field, plan } from "../plan-parts.ts";
import { planFindings } from "../rendered.ts";
import { words } from "../words.ts";

interface Log {
  readonly runs: readonly {
    readonly tool: { readonly driver: { readonly rules: readonly { readonly id: string }[] } };
    readonly invocations: readonly {
      readonly executionSuccessful: boolean;
      readonly toolExecutionNotifications: readonly { readonly message: { readonly text: string } }[];
    }[];
    readonly results: readonly {
      readonly ruleId: string;
      readonly ruleIndex: number;
      readonly level: string;
      readonly message: { readonly text: string };
      readonly locations: readonly [
        {
          readonly physicalLocation: {
            readonly artifactLocation: { readonly uri: string };
            readonly region: { readonly startLine: number };
          };
        },
      ];
      readonly partialFingerprints: { readonly [name: string]: string };
    }[];
  }[];
}

const context: SarifContext = {
  version: "1.2.3",
  projectUrl: "https://forge.example/graphform",
  fallbackFile: "graphform.yaml",
  uriOf: (file) => encodeURIComponent(file.toWellFormed()),
  digest: (text) => createHash("sha256").update(text).digest("hex"),
};
const valid = new Ajv({ allErrors: true }).compile(sarifSchema);

/** The only run of a log, once the log is known to be valid. */
function runOf(findings: readonly ReportFinding[], more: Partial<SarifContext> = {}): Log["runs"][number] {
  const { log } = sarifLog(findings, { ...context, ...more });
  valid(log);
  expect(valid.errors ?? []).toEqual([]);
  const { runs }: Log = JSON.parse(JSON.stringify(log));
  const [run] = runs;
  if (run === undefined) throw new Error("no run");
  return run;
}

function problem(line: number, over: Partial<Problem> = {}): Problem {
  return { code: "unknown-key", severity: "error", message: "no key x", range: at(line), ...over };
}

const fingerprints = (findings: readonly ReportFinding[]): readonly string[] =>
  runOf(findings).results.flatMap(({ partialFingerprints }) => Object.values(partialFingerprints));

describe("SARIF of a plan", () => {
  it.each(Object.entries(goldenPlans))("%s is valid, and every result names its rule", (_, made) => {
    const run = runOf(planFindings(made, words));
    for (const result of run.results) {
      expect(run.tool.driver.rules[result.ruleIndex]?.id).toBe(result.ruleId);
    }
  });

  it("lists the worst first: data loss, guards, replacements, restarts, the rest", () => {
    const made = goldenPlans["102-a-bad-day"] ?? plan({});
    const levels = runOf(planFindings(made, words)).results.map(({ level }) => level);
    expect(levels).toEqual([...levels].sort((a, b) => rank(a) - rank(b)));
    expect(new Set(levels)).toEqual(new Set(["error", "warning", "note"]));
  });

  it("lists what was changed outside before what is harmless, and what will be lost before what is held back", () => {
    const made = plan({
      changes: [
        change("create", "instances.new", {}),
        change("keep", "instances.seen", {
          drift: [field("config.maxMemory", { before: "6GB", after: "8GB" })],
        }),
        change("update", "instances.held", {
          blocked: [{ code: "max-disruption", message: "no", lift: "raise it" }],
        }),
        change("delete", "instances.lost", { disruption: "data-loss" }),
      ],
    });
    expect(runOf(planFindings(made, words)).results.map(({ ruleId }) => ruleId)).toEqual([
      ...["plan-data-loss", "guard-max-disruption", "plan-drift", "plan-updated", "plan-created"],
    ]);
  });

  it("gives each changed field of an update a result with its values, and a guard its way out", () => {
    const made = plan({
      changes: [
        change("update", "instances.a", {
          where: at(7),
          fields: [
            field("config.maxMemory", { before: "6GB", after: "8GB", disruption: "restart" }),
            field("config.name", { before: "a", after: "b" }),
          ],
          blocked: [{ code: "max-disruption", message: "restart is worse", lift: "raise it" }],
        }),
      ],
    });
    const { results } = runOf(planFindings(made, words));
    expect(results.map(({ ruleId, level }) => [ruleId, level])).toEqual([
      ["guard-max-disruption", "error"],
      ["plan-restart", "warning"],
      ["plan-updated", "note"],
    ]);
    expect(results[0]?.message.text).toContain("(way out: raise it)");
    expect(results[1]?.message.text).toContain('config.maxMemory: "6GB" → "8GB"');
    expect(results[0]?.locations[0].physicalLocation).toMatchObject({
      artifactLocation: { uri: "graphform.yaml" },
      region: { startLine: 7 },
    });
  });

  it("keeps fingerprints when lines move, and tells addresses and fields apart", () => {
    const made = (line: number, path = "config.name", name = "a"): Plan =>
      plan({
        changes: [
          change("update", `instances.${name}`, { where: at(line), fields: [field(path, { after: "x" })] }),
        ],
      });
    const of = (it: Plan): readonly string[] => fingerprints(planFindings(it, words));
    expect(of(made(3))).toEqual(of(made(300)));
    expect(of(made(3))).not.toEqual(of(made(3, "config.other")));
    expect(of(made(3))).not.toEqual(of(made(3, "config.name", "b")));
  });
});

describe("SARIF of a manifest", () => {
  it("keeps fingerprints when lines move; equal problems still have different ones", () => {
    const [first] = fingerprints(problemFindings([problem(3)]));
    expect(fingerprints(problemFindings([problem(9)]))).toEqual([first]);
    const both = fingerprints(problemFindings([problem(3), problem(9)]));
    expect(new Set(both).size).toBe(2);
    expect(both[0]).toBe(first);
    const duplicate = (line: number): readonly string[] =>
      fingerprints(problemFindings([problem(5, { message: `first on line ${line}` })]));
    expect(duplicate(1)).toEqual(duplicate(2));
  });

  it("lists errors before warnings, whatever their lines", () => {
    const findings = problemFindings([problem(1, { severity: "warning" }), problem(2)]);
    expect(runOf(findings).results.map(({ level }) => level)).toEqual(["error", "warning"]);
  });

  it("has no link and no control character, whatever the words", () => {
    const message = "[click](http://evil.example) \u001b[2J\u202e";
    const [result] = runOf(problemFindings([problem(1, { message })])).results;
    expect(result?.message.text).toBe("[click] (http://evil.example) \\u001b[2J\\u202e");
  });

  it("says what ended a run that has no results", () => {
    const [invocation] = runOf([], { failure: "the service is not reached" }).invocations;
    expect(invocation?.executionSuccessful).toBe(false);
    expect(invocation?.toolExecutionNotifications[0]?.message.text).toBe("the service is not reached");
  });
});

describe("limits", () => {
  const many = (count: number): readonly ReportFinding[] =>
    problemFindings(
      Array.from({ length: count }, (_, line) =>
        problem(line + 1, { severity: line === count - 1 ? "error" : "warning", message: `no key x${line}` }),
      ),
    );

  it("of 25 000 results keeps the worst and says how many are left out", () => {
    const { leftOut } = sarifLog(many(25_007), context);
    expect(leftOut).toBe(7);
    const run = runOf(many(25_007));
    expect(run.results).toHaveLength(25_000);
    expect(run.results[0]?.level).toBe("error");
    expect(notes(run)).toEqual([
      "7 results left out, the least severe ones",
      "25007 results; GitHub shows the 5000 most severe ones",
    ]);
  });

  it("says that GitHub shows 5 000, and says nothing below", () => {
    expect(notes(runOf(many(5_001)))).toEqual(["5001 results; GitHub shows the 5000 most severe ones"]);
    expect(notes(runOf(many(5_000)))).toEqual([]);
  });

  function notes(run: Log["runs"][number]): readonly string[] {
    return run.invocations.flatMap(({ toolExecutionNotifications }) =>
      toolExecutionNotifications.map(({ message }) => message.text),
    );
  }
});

describe("every code has its sentence", () => {
  const root = join(import.meta.dirname, "..", "..", "..");
  const codesIn = (...folders: readonly string[]): readonly string[] =>
    folders.flatMap((folder) =>
      globSync(`src/${folder}/**/*.ts`, { cwd: root }).flatMap((file) =>
        [...readFileSync(join(root, file), "utf8").matchAll(/(?:code: |\bwarn\(\s*)"([a-z][a-z-]*)"/g)].map(
          (match) => match[1] ?? "",
        ),
      ),
    );

  it("of problems", () => {
    const codes = codesIn("manifest", "kinds");
    expect(codes.length).toBeGreaterThan(60);
    expect(codes.filter((code) => !Object.hasOwn(problemRules, code))).toEqual([]);
  });

  it("of guards", () => {
    const codes = codesIn("plan", "reconcile");
    expect(codes.length).toBeGreaterThan(8);
    expect(codes.filter((code) => !Object.hasOwn(guardRules, code))).toEqual([]);
  });
});

function rank(level: string): number {
  return ["error", "warning", "note"].indexOf(level);
}
