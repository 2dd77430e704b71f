import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { GraphformError, ManifestError } from "../../src/model/errors.ts";
import type { Json, JsonObject } from "../../src/model/json.ts";
import { applyEvent, errorEvent, problemEvents, stamped, versionEvent } from "../../src/report/events.ts";
import { erroredPlanJson } from "../../src/report/problems.ts";
import { eventViolations, planViolations } from "../support/published-schemas.ts";
import { terraformViolations } from "../support/terraform-rules.ts";
import { anyEvent, anyOutcome, anyPlan, anyProblem } from "./arbitraries.ts";
import { goldenPlans } from "./golden-plans.ts";
import { at } from "./plan-parts.ts";
import { outcomeEvents, planEvents, planJson } from "./rendered.ts";
import { samplePlan } from "./sample-plan.ts";
import { words } from "./words.ts";

const plain = (value: Json): Json => JSON.parse(JSON.stringify(value));
const written = (event: JsonObject): Json => plain(stamped(event, 0));

describe("the JSON of a plan", () => {
  it.each(Object.entries(goldenPlans))("%s is valid by our schema and by Terraform's rules", (_, made) => {
    const json = plain(planJson(made, words));
    expect(planViolations(json)).toEqual([]);
    expect(terraformViolations(json)).toEqual([]);
    for (const event of planEvents(made, words)) expect(eventViolations(written(event))).toEqual([]);
  });

  it("of any plan has no key that the schema does not name", () => {
    fc.assert(
      fc.property(anyPlan, (made) => {
        expect(planViolations(plain(planJson(made, words)))).toEqual([]);
      }),
      { numRuns: 200 },
    );
  });

  it("that could not be made is valid", () => {
    const problem = {
      code: "yaml",
      severity: "error",
      message: "m",
      range: at(3),
      excerpt: "x: [",
      hint: "h",
    } as const;
    for (const error of [new GraphformError("a", "b"), new ManifestError([problem])]) {
      const json = plain(erroredPlanJson(error));
      expect([...planViolations(json), ...terraformViolations(json)]).toEqual([]);
    }
  });

  const whole = planJson(samplePlan, words);
  const [first] = Array.isArray(whole["resource_changes"]) ? whole["resource_changes"] : [];
  it.each<[string, JsonObject]>([
    ["an unknown key", { ...whole, extra: 1 }],
    ["no format_version", { ...whole, format_version: null }],
    ["another major version", { ...whole, format_version: "2.0" }],
    ["an unknown action", { ...whole, resource_changes: [{ ...first, change: { actions: ["destroy"] } }] }],
  ])("is refused by the schema with %s", (_, broken) => {
    expect(planViolations(plain(broken))).not.toEqual([]);
  });

  const change = (over: JsonObject): JsonObject => ({
    ...whole,
    resource_changes: [
      {
        ...{ address: "instances.a", mode: "managed", type: "t", name: "a", provider_name: "p" },
        change: {
          actions: ["update"],
          before: {},
          after: {},
          after_unknown: {},
          before_sensitive: {},
          after_sensitive: {},
          ...over,
        },
      },
    ],
  });
  it.each<[string, JsonObject]>([
    ["illegal actions", change({ actions: ["delete", "update"] })],
    ["a create with a before", change({ actions: ["create"] })],
    ["a delete with an after", change({ actions: ["delete"] })],
    ["an update without an after", change({ after: null })],
    ["a no-op that changes something", change({ actions: ["no-op"], after: { a: 1 } })],
    ["marks of another shape", change({ after_sensitive: { a: { b: true } }, after: { a: [1] } })],
    ["replace paths without a replacement", change({ replace_paths: [["a"]] })],
    ["a text for a flag", { ...whole, complete: "yes" }],
  ])("is refused by Terraform's rules with %s", (_, broken) => {
    expect(terraformViolations(change({}))).toEqual([]);
    expect(terraformViolations(plain(broken))).not.toEqual([]);
  });
});

describe("the event stream", () => {
  it("is valid line by line, whatever happens", () => {
    fc.assert(
      fc.property(anyPlan, anyEvent, anyOutcome, anyProblem, (made, event, outcome, problem) => {
        const events = [
          versionEvent("1.2.3"),
          ...planEvents(made, words),
          applyEvent(event, words),
          ...outcomeEvents(outcome),
          ...problemEvents([problem]),
          errorEvent(new GraphformError("a", "b")),
        ];
        expect(events.flatMap((each) => eventViolations(written(each)))).toEqual([]);
      }),
      { numRuns: 100 },
    );
  });

  it.each<[string, JsonObject]>([
    ["an unknown key", { ...stamped(versionEvent("1"), 0), extra: 1 }],
    ["an unknown type", { ...stamped(versionEvent("1"), 0), type: "log" }],
    ["no time", versionEvent("1")],
  ])("is refused with %s", (_, broken) => {
    expect(eventViolations(plain(broken))).not.toEqual([]);
  });
});
