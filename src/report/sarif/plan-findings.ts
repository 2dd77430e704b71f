/** @module Turns the changes and guards of a plan into findings. */
import type { Change, FieldChange, Guard } from "../../model/plan.ts";
import type { ShownPlan } from "../shown.ts";
import type { ShownValue } from "../shown-value.ts";
import { sourceNote } from "../source-words.ts";
import { driftedFields, type FieldView, fieldsOf } from "../view/field-view.ts";
import { type FindingLevel, type ReportFinding, worstFirst } from "./finding.ts";
import { type ChangeRule, changeRules, guardRules } from "./plan-rules.ts";

/** The guards, changes and drift of a plan as findings, worst first. Resources that stay as they are give none. */
export function planFindings(plan: ShownPlan): readonly ReportFinding[] {
  const findings = plan.changes.flatMap((change) => [
    ...change.blocked.map((guard) => guardFinding(change, guard)),
    ...(change.action === "keep" ? [] : changeFindings(change)),
    ...driftFindings(change),
  ]);
  return worstFirst(findings, ranks);
}

/** Rules, worst first: what will be lost, what is blocked, and the other changes. */
const ranks: readonly string[] = [
  "plan-data-loss",
  "guard",
  ...Object.keys(changeRules).map((rule) => `plan-${rule}`),
];

const levels: { readonly [rule in ChangeRule]: FindingLevel } = {
  "data-loss": "error",
  replaced: "warning",
  deleted: "warning",
  downtime: "warning",
  restart: "warning",
  updated: "note",
  created: "note",
  bound: "note",
  drift: "warning",
};

function guardFinding(change: Change<unknown>, { code, message, lift }: Guard): ReportFinding {
  const known = Object.hasOwn(guardRules, code) ? guardRules[code] : undefined;
  return {
    rule: `guard-${code}`,
    help: known ?? "A guard blocks this change until it is lifted.",
    level: "error",
    message: `${change.address}: ${change.action} is blocked: ${message} (way out: ${lift})`,
    ...place(change),
    fingerprint: { name: "resourceField/v1", parts: [change.address, "", `guard-${code}`] },
  };
}

/** An update gives a finding for each field, so that each has its own identity; every other change gives one. */
function changeFindings(change: Change<ShownValue>): readonly ReportFinding[] {
  const { action, address, fields, forcedBy, reason } = change;
  const inPlace = action === "update" || action === "adopt";
  if (!inPlace || fields.length === 0) {
    const text = `${address}: ${action}: ${reason}`;
    return [changeFinding(change, ruleOf(change), text, forcedBy ?? "")];
  }
  const rows = new Map(fieldsOf(change).map((row) => [row.path, row]));
  return fields.map((field) => {
    const row = rows.get(field.path);
    const text = row === undefined ? field.path : rowText(row);
    return changeFinding(change, fieldRule(field), `${address}: ${action} ${text}`, field.path);
  });
}

function driftFindings(change: Change<ShownValue>): readonly ReportFinding[] {
  return driftedFields(change).map((row) =>
    changeFinding(change, "drift", `${change.address}: ${rowText(row)}`, row.path),
  );
}

function changeFinding(
  change: Change<unknown>,
  rule: ChangeRule,
  message: string,
  field: string,
): ReportFinding {
  return {
    rule: `plan-${rule}`,
    help: changeRules[rule],
    level: levels[rule],
    message,
    ...place(change),
    fingerprint: { name: "resourceField/v1", parts: [change.address, field, `plan-${rule}`] },
  };
}

function ruleOf({ action, disruption }: Change<unknown>): ChangeRule {
  if (disruption === "data-loss") return "data-loss";
  if (action === "replace") return "replaced";
  if (action === "delete") return "deleted";
  if (disruption !== "none") return disruption;
  if (action === "create") return "created";
  return action === "update" ? "updated" : "bound";
}

function fieldRule({ disruption }: FieldChange<unknown>): ChangeRule {
  return disruption === "none" ? "updated" : disruption;
}

function rowText({ path, before, after, source, secret, notes }: FieldView): string {
  const from = before === undefined ? "" : `${before}${secret ? "" : sourceNote(source)} → `;
  return `${path}: ${from}${after}${notes.length === 0 ? "" : ` (${notes.join(", ")})`}`;
}

function place({ where }: Change<unknown>): Pick<ReportFinding, "where"> {
  return where === undefined ? {} : { where };
}
