import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Problem } from "../../../src/model/errors.ts";
import {
  type Annotation,
  annotationLines,
  planAnnotations,
  problemAnnotations,
  workflowCommand,
} from "../../../src/report/annotations.ts";
import { gitlabCounts } from "../../../src/report/plan-summary.ts";
import { text } from "../arbitraries.ts";
import { goldenPlans } from "../golden-plans.ts";
import { at, change, plan, step } from "../plan-parts.ts";

const same = (file: string): string => file;
const guard = { code: "protect", message: "protected", lift: "--allow-destroy instances.b" };

function annotation(over: Partial<Annotation> = {}): Annotation {
  return { level: "error", title: "t", message: "m", ...over };
}

describe("annotations", () => {
  it("are errors where data is lost or a guard blocks; what is lost for sure comes first", () => {
    const made = plan({
      changes: [
        change("delete", "instances.a", { blocked: [guard], where: at(1) }),
        change("delete", "instances.b", { blocked: [guard], disruption: "data-loss" }),
        change("replace", "instances.c", { disruption: "data-loss", reason: "region differs", where: at(3) }),
        change("update", "instances.d", { disruption: "restart" }),
        change("keep", "instances.e", { blocked: [guard] }),
      ],
    });
    expect(planAnnotations(made, same).map(workflowCommand)).toEqual([
      "::error file=graphform.yaml,line=3,endLine=3,col=3,endColumn=8,title=graphform%3A replace%2C loses data::instances.c: replace: region differs.",
      "::error title=graphform%3A delete%2C loses data%2C blocked::instances.b: delete: . Blocked: protected (way out: --allow-destroy instances.b).",
      "::error file=graphform.yaml,line=1,endLine=1,col=3,endColumn=8,title=graphform%3A delete%2C blocked::instances.a: delete: . Blocked: protected (way out: --allow-destroy instances.b).",
    ]);
  });

  it("of problems have the level of the problem, errors first", () => {
    const problem = (severity: Problem["severity"]): Problem => ({
      code: "yaml",
      severity,
      message: "m",
      hint: "h",
      range: { file: "a,b:c.yaml", start: { line: 2, column: 4 }, end: { line: 5, column: 1 } },
    });
    const [first, second] = problemAnnotations([problem("warning"), problem("error")], same).map(
      workflowCommand,
    );
    expect(first).toBe("::error file=a%2Cb%3Ac.yaml,line=2,endLine=5,title=graphform%3A yaml::m (hint: h)");
    expect(second).toMatch(/^::warning /);
  });

  it("are ten of each kind at most, and one notice counts the others", () => {
    const many = (level: Annotation["level"], count: number): readonly Annotation[] =>
      Array.from({ length: count }, (_, number) => annotation({ level, message: `${level} ${number}` }));
    const lines = annotationLines([...many("error", 12), ...many("warning", 11)], "see the plan");
    expect(lines.filter((line) => line.startsWith("::error"))).toHaveLength(10);
    expect(lines.filter((line) => line.startsWith("::warning"))).toHaveLength(10);
    expect(lines.at(-1)).toBe("::notice title=graphform::3 annotations more: see the plan");
    expect(annotationLines(many("error", 10), "")).toHaveLength(10);
    expect(
      annotationLines(many("notice", 12), "x").filter((line) => line.startsWith("::notice")),
    ).toHaveLength(10);
  });

  it("are one line and one command each, whatever the words", () => {
    fc.assert(
      fc.property(text, text, text, (message, title, file) => {
        const line = workflowCommand(annotation({ message, title, file, line: 1 }));
        expect(line).not.toMatch(/[\p{Cc}\p{Cs}]/u);
        const [, properties = ""] = line.match(/^::error (.*?)::/) ?? [];
        expect(properties.split(",").map((part) => part.split("=")[0])).toEqual(["file", "line", "title"]);
      }),
    );
    expect(workflowCommand(annotation({ message: "100%\n::error::x" }))).toBe(
      "::error title=t::100%25\\n::error::x",
    );
  });
});

describe("GitLab's report", () => {
  it("counts a replacement as one create and one delete, in both orders, and holds nothing but counts", () => {
    const made = plan({
      changes: [
        change("replace", "networks.core", {}),
        change("replace", "instances.a", {}),
        change("create", "instances.b", {}),
        change("update", "instances.c", {}),
        change("adopt", "instances.d", {}),
        change("keep", "instances.e", {}),
        change("forget", "instances.f", {}),
        change("delete", "instances.g", { blocked: [guard] }),
      ],
      steps: [
        step("create", "networks.core"),
        step("delete", "networks.core#delete", { after: ["networks.core"] }),
      ],
    });
    expect(gitlabCounts([made])).toEqual({ create: 3, update: 1, delete: 3 });
  });

  it("has the counts of the plan's JSON", () => {
    expect(gitlabCounts([goldenPlans["101-nothing-to-do"] ?? plan({})])).toEqual({
      create: 0,
      update: 0,
      delete: 0,
    });
  });
});
