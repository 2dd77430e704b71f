/** @module Formats findings as a log in the format SARIF 2.1.0. */
import type { SourceRange } from "../../model/errors.ts";
import type { Json, JsonObject } from "../../model/json.ts";
import { escapeText } from "../typeset.ts";
import { amount } from "../words.ts";

/** Results that GitHub takes of one run, and those of them that it shows. */
const sarifLimits = { taken: 25_000, shown: 5_000 } as const;

/** Longest message of one result, in characters. */
const longest = 1000;

export interface SarifContext {
  readonly version: string;
  /** Address of the project's repository, without a slash at its end. */
  readonly projectUrl: string;
  /** File that a finding without a place is shown at. */
  readonly fallbackFile: string;
  /** Converts the path of a file to a URI; a relative one is relative to the root of the repository. */
  readonly uriOf: (file: string) => string;
  readonly digest: (text: string) => string;
  /** Error that ended the run, if it has no place in the manifest. */
  readonly failure?: string;
  readonly figures?: { readonly [name: string]: number };
}

/** A log with at most 25 000 results, and the number of the least severe ones, which are left out then. */
export function sarifLog(
  findings: readonly ReportFinding[],
  context: SarifContext,
): { readonly log: JsonObject; readonly leftOut: number } {
  const sorted = levels.flatMap((level) => findings.filter((finding) => finding.level === level));
  const kept = sorted.slice(0, sarifLimits.taken);
  const rules = [...new Map(kept.map((finding) => [finding.rule, finding])).values()];
  const indexes = new Map(rules.map(({ rule }, at) => [rule, at]));
  const fingerprints = fingerprintsOf(kept, context);
  const { version, projectUrl, failure, figures = {} } = context;
  const run: JsonObject = {
    tool: {
      driver: {
        name: "graphform",
        informationUri: projectUrl,
        semanticVersion: version,
        version,
        rules: rules.map((rule) => ruleOf(rule, `${projectUrl}/blob/main/docs/reports.md#sarif`)),
      },
    },
    columnKind: "utf16CodeUnits",
    ...(Object.keys(figures).length === 0 ? {} : { properties: { ...figures } }),
    invocations: [
      {
        executionSuccessful: failure === undefined,
        toolExecutionNotifications: notifications(findings.length, failure),
      },
    ],
    results: kept.map(({ rule, level, message, where, fingerprint }, at) => ({
      ruleId: rule,
      ruleIndex: indexes.get(rule) ?? 0,
      level,
      message: { text: messageText(message) },
      locations: [{ physicalLocation: placeOf(where, context) }],
      partialFingerprints: { [fingerprint.name]: fingerprints[at] ?? "" },
    })),
  };
  const log = { $schema: "https://json.schemastore.org/sarif-2.1.0.json", version: "2.1.0", runs: [run] };
  return { log, leftOut: findings.length - kept.length };
}

/** Fingerprints of the findings, all different: equal findings are numbered. */
function fingerprintsOf(findings: readonly ReportFinding[], { digest }: SarifContext): readonly string[] {
  const seen = new Map<string, number>();
  return findings.map(({ rule, fingerprint }) => {
    const own = JSON.stringify([rule, ...fingerprint.parts]);
    const count = (seen.get(own) ?? 0) + 1;
    seen.set(own, count);
    return digest(count === 1 ? own : `${own}#${count}`);
  });
}

function ruleOf({ rule, help, level }: ReportFinding, helpUri: string): JsonObject {
  const [first = help] = help.split(/(?<=\.) /);
  return {
    id: rule,
    name: rule.replace(/(?:^|-)(\w)/g, (_, letter: string) => letter.toUpperCase()),
    shortDescription: { text: first },
    fullDescription: { text: help },
    help: { text: help },
    helpUri,
    defaultConfiguration: { level },
    properties: { tags: [tagOf(rule)] },
  };
}

function tagOf(rule: string): string {
  if (rule.startsWith("guard-")) return "guard";
  if (rule.startsWith("drift-")) return "drift";
  return rule.startsWith("plan-") ? "plan" : "manifest";
}

function notifications(total: number, failure: string | undefined): readonly Json[] {
  const { taken, shown } = sarifLimits;
  const left = total - taken;
  const said = [
    ["error", failure !== undefined, failure ?? ""],
    ["warning", left > 0, `${amount(left, "result")} left out, the least severe ones`],
    ["note", total > shown, `${total} results; GitHub shows the ${shown} most severe ones`],
  ] as const;
  return said.flatMap(([level, isSaid, text]) =>
    isSaid ? [{ level, message: { text: messageText(text) } }] : [],
  );
}

/** Escapes a message. A bracket before a parenthesis would make a link. */
function messageText(text: string): string {
  return escapeText(text, longest).replaceAll("](", "] (");
}

function placeOf(where: SourceRange | undefined, { uriOf, fallbackFile }: SarifContext): JsonObject {
  if (where === undefined)
    return { artifactLocation: { uri: uriOf(fallbackFile) }, region: { startLine: 1 } };
  const { file, start, end } = where;
  return {
    artifactLocation: { uri: uriOf(file) },
    region: {
      startLine: Math.max(1, start.line),
      startColumn: Math.max(1, start.column),
      endLine: Math.max(1, end.line),
      endColumn: Math.max(1, end.column),
    },
  };
}

/** Severities, as SARIF names them. */
export const levels = ["error", "warning", "note"] as const;

/** One finding: a problem of the manifest, a guard that blocks a change, or a planned change. */
export interface ReportFinding {
  readonly rule: string;
  /** One sentence about the rule, with the way out. */
  readonly help: string;
  readonly level: (typeof levels)[number];
  readonly message: string;
  readonly where?: SourceRange;
  /** Identity across runs, with the name and version of its own rule. Line numbers are no part of it, because they move. */
  readonly fingerprint: { readonly name: string; readonly parts: readonly string[] };
}
