/** @module Turns the problems of a manifest into findings. */
import type { Problem } from "../../model/problem.ts";
import type { ReportFinding } from "./finding.ts";
import { problemRules } from "./problem-rules.ts";

/** The problems as findings, errors first. */
export function problemFindings(problems: readonly Problem[]): readonly ReportFinding[] {
  const findings = problems.map((problem): ReportFinding => {
    const { code, severity, message, hint, range, address } = problem;
    return {
      rule: code,
      help: ruleText(code),
      level: severity,
      message: hint === undefined ? message : `${message} (${hint})`,
      where: range,
      // The messages of duplicates name the line of the first one.
      fingerprint: {
        name: "problem/v1",
        parts: [code, range.file, address ?? "", message.replace(/\bline \d+/g, "line")],
      },
    };
  });
  return [
    ...findings.filter(({ level }) => level === "error"),
    ...findings.filter(({ level }) => level !== "error"),
  ];
}

/** The sentence about a code; its own words where there is none. */
function ruleText(code: string): string {
  const known = Object.hasOwn(problemRules, code) ? problemRules[code] : undefined;
  return known ?? `${code.replaceAll("-", " ")}: the message of each finding says more.`;
}
