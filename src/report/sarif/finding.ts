/** @module Defines one finding of a report in the format SARIF. */
import type { SourceRange } from "../../model/problem.ts";

/** Severity of a finding, as SARIF names it. */
export type FindingLevel = "error" | "warning" | "note";

/** One finding: a problem of the manifest, a guard that blocks a change, or a planned change. */
export interface ReportFinding {
  /** Stable id of the rule. */
  readonly rule: string;
  /** One sentence about the rule, with the way out. */
  readonly help: string;
  readonly level: FindingLevel;
  readonly message: string;
  readonly where?: SourceRange;
  readonly fingerprint: FindingFingerprint;
}

/** Identity of a finding across runs. Line numbers are no part of it, because they move. */
export interface FindingFingerprint {
  /** Name and version of the rule by which it is made. */
  readonly name: string;
  readonly parts: readonly string[];
}

const levels: readonly FindingLevel[] = ["error", "warning", "note"];

/** Findings, worst first: by level, then in the order of their rules (all guards are one, `guard`), then by what they are about. */
export function worstFirst(
  findings: readonly ReportFinding[],
  rules: readonly string[],
): readonly ReportFinding[] {
  return findings
    .map((finding) => ({
      finding,
      ranks: [
        levels.indexOf(finding.level),
        rules.indexOf(finding.rule.replace(/^guard-.*/, "guard")),
      ] as const,
      subject: finding.fingerprint.parts.join("\n"),
    }))
    .sort(
      (a, b) =>
        a.ranks[0] - b.ranks[0] ||
        a.ranks[1] - b.ranks[1] ||
        (a.subject === b.subject ? 0 : a.subject < b.subject ? -1 : 1),
    )
    .map(({ finding }) => finding);
}
