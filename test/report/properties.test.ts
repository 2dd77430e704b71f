import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { GraphformError } from "../../src/model/errors.ts";
import { isObject, type Json } from "../../src/model/json.ts";
import type { Plan } from "../../src/model/plan.ts";
import { annotationLines, planAnnotations, problemAnnotations } from "../../src/report/annotations.ts";
import { progressText } from "../../src/report/apply-text.ts";
import { applyEvent, errorEvent, problemEvents } from "../../src/report/events.ts";
import { failureMarkdown } from "../../src/report/markdown/report-markdown.ts";
import { gitlabCounts } from "../../src/report/plan-summary.ts";
import { errorText, problemsJson, problemsText } from "../../src/report/problems.ts";
import { problemFindings } from "../../src/report/sarif/problem-findings.ts";
import { type SarifContext, sarifLog } from "../../src/report/sarif/sarif-log.ts";
import { jsonText, makePalette } from "../../src/report/typeset.ts";
import { runs } from "../support/runs.ts";
import { anyEvent, anyOutcome, anyPlan, anyProblem, anyState, secret, text } from "./arbitraries.ts";
import {
  outcomeEvents,
  outcomeText,
  outputsJson,
  outputsText,
  planEvents,
  planFindings,
  planJson,
  planMarkdown,
  planText,
  stateJson,
  stateText,
} from "./rendered.ts";
import { words } from "./words.ts";

const steering = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/u;
const page = { palette: makePalette(false), width: 80 };

const same = (file: string): string => file;
const sarif: SarifContext = {
  version: "1.0.0",
  projectUrl: "https://forge.example/graphform",
  fallbackFile: "x",
  uriOf: same,
  digest: (digested) => `${digested.length}`,
};

/** Everything that is rendered for people, with its line breaks. */
const anyText: fc.Arbitrary<string> = fc.oneof(
  anyPlan.map((plan) => planText(plan, words, page)),
  anyOutcome.map((outcome) => outcomeText(outcome, page)),
  anyEvent.map((event) => progressText(event, page.palette)),
  fc.array(anyProblem, { maxLength: 3 }).map((problems) => problemsText(problems, page)),
  anyState.map((state) => stateText(state, words, page)),
  anyState.map((state) => outputsText(state.outputs, page.palette)),
  text.map((thrown) => errorText(new GraphformError("x", thrown))),
  anyPlan.map((plan) => planMarkdown(plan, words)),
  text.map((thrown) => failureMarkdown(new GraphformError("x", thrown), thrown, "plan")),
  anyPlan.map((plan) => annotationLines(planAnnotations(plan, same), "").join("\n")),
  anyProblem.map((problem) => annotationLines(problemAnnotations([problem], same), "").join("\n")),
);

/** Everything that is rendered for machines, on one line. */
const anyJson: fc.Arbitrary<string> = fc.oneof(
  anyPlan.map((plan) => jsonText(planJson(plan, words))),
  anyPlan.map((plan) => jsonText(sarifLog(planFindings(plan, words), sarif).log)),
  anyProblem.map((problem) => jsonText(sarifLog(problemFindings([problem]), sarif).log)),
  anyPlan.map((plan) => jsonText(gitlabCounts([plan]))),
  anyPlan.map((plan) => jsonText([...planEvents(plan, words)])),
  anyOutcome.map((outcome) => jsonText([...outcomeEvents(outcome)])),
  anyEvent.map((event) => jsonText(applyEvent(event, words))),
  anyState.map((state) => jsonText(outputsJson(state.outputs))),
  anyState.map((state) => jsonText(stateJson(state, words))),
  fc
    .array(anyProblem, { maxLength: 3 })
    .map((problems) => jsonText([problemsJson(problems), ...problemEvents(problems)])),
  text.map((thrown) => jsonText(errorEvent(new GraphformError("x", thrown)))),
);

const many = { numRuns: runs(1000) };

describe("every rendering", () => {
  it("holds no secret", () => {
    const rendered = fc.oneof(anyText, anyJson);
    fc.assert(
      fc.property(rendered, (written) => {
        expect(written).not.toContain(secret.slice(0, 10));
      }),
      many,
    );
  });

  it("for people holds nothing that steers a terminal", () => {
    fc.assert(
      fc.property(anyText, (written) => {
        expect(written.replaceAll("\n", "")).not.toMatch(steering);
      }),
      many,
    );
  });

  it("for machines holds nothing that steers a terminal, and is JSON", () => {
    fc.assert(
      fc.property(anyJson, (written) => {
        expect(() => JSON.parse(written)).not.toThrow();
        expect(written).not.toMatch(steering);
      }),
      many,
    );
  });
});

describe("a plan", () => {
  it("has one line that scripts read, and it is the last", () => {
    fc.assert(
      fc.property(anyPlan, (plan) => {
        const lines = planText(plan, words, page).split("\n");
        expect(lines.filter((line) => line.startsWith("Plan: "))).toEqual([lines.at(-2)]);
        expect(lines.at(-2)).toMatch(/^Plan: \d+ to add, \d+ to change, \d+ to destroy\.$/);
      }),
    );
  });

  it("is the same JSON, byte for byte, whatever the order of its keys", () => {
    fc.assert(
      fc.property(anyPlan, (plan) => {
        expect(jsonText(planJson(backwards(plan), words))).toBe(jsonText(planJson(plan, words)));
      }),
    );
  });

  it("is the same text whatever the order of its changes", () => {
    fc.assert(
      fc.property(anyPlan, (plan) => {
        const turned = { ...plan, changes: [...plan.changes].reverse() };
        expect(planText(turned, words, page)).toBe(planText(plan, words, page));
      }),
    );
  });
});

/** The same plan with the keys of every object in reverse order. */
function backwards(plan: Plan): Plan {
  return JSON.parse(JSON.stringify(reversed(JSON.parse(JSON.stringify(plan)))));
}

function reversed(json: Json): Json {
  if (Array.isArray(json)) return json.map(reversed);
  if (!isObject(json)) return json;
  const entries = Object.entries(json).reverse();
  return Object.fromEntries(entries.map(([key, inner]) => [key, reversed(inner)]));
}
