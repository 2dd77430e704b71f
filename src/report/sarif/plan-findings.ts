/** @module Turns the changes and guards of a plan into findings. */
import type { Change, FieldChange, Guard } from "../../model/plan.ts";
import type { ShownPlan } from "../shown.ts";
import type { ShownValue } from "../shown-value.ts";
import { changedField, driftedFields, fieldText } from "../view/field-view.ts";
import { type FindingLevel, type ReportFinding, worstFirst } from "./sarif-log.ts";

/** One sentence for each code of a guard, with the way to lift it. */
export const guardRules: { readonly [code: string]: string } = {
  "another-object":
    "The bound id is that of another object by now: it shows another time of its creation. Use state rm, and then import if it is to be managed.",
  "bound-elsewhere":
    "Another address is bound to the same object, and declared as well. Remove one of the two, or write a moved entry.",
  "depends-on-blocked": "The change depends on a change that is blocked. Lift the guard of that one first.",
  "create-in-doubt":
    "Nothing tells what an earlier create has made. Look at the objects that are named, and use import or state rm.",
  "empty-manifest":
    "The manifest is empty, and the state knows resources. Use destroy where everything is to be deleted.",
  "everything-gone":
    "The service shows nothing any more of what the state binds. Plan with the rights and the account of the last apply, allow it with --allow-destroy ADDRESS, or remove the entries with state rm.",
  "in-doubt":
    "Nothing proves that the object is gone, or that it is there. Plan with the rights and the account that show it, or use state rm or import.",
  "kept-by-service":
    "The service refuses to delete a resource with deletion protection. Switch it off first.",
  "max-change-percent":
    "More resources change than guards.maxChangePercent allows. Raise the limit, or plan with --target.",
  "max-deletes":
    "More resources are destroyed than guards.maxDeletes allows. Raise the limit, or plan with --target.",
  "max-disruption": "The change is more disruptive than guards.maxDisruption or --max-disruption allows.",
  "may-exist":
    "An object of this name exists, and no state says whose it is. Import it, or rename the declared resource.",
  "moved-taken": "The new address of a move is already bound to an object. Remove one of the two.",
  "needed-by-left-out":
    "An object that --exclude or --target leaves out stands on this one, and would be deleted with it. Plan both, or neither.",
  "not-offered": "The profile has no operation for this change. Make the change in another way.",
  "on-replace":
    "The change needs a replacement, and lifecycle.onReplace refuses it. Allow it with --replace ADDRESS.",
  protect:
    "The resource is protected from deletion and replacement. Allow it with --allow-destroy ADDRESS, or set lifecycle.protect: false.",
};

/** One sentence for each kind of planned change. */
const changeRules = {
  "data-loss": "The change loses data. Make sure that a backup exists before it is applied.",
  replaced: "The resource is deleted and created again.",
  deleted: "The resource is deleted.",
  downtime: "The change makes the resource unavailable for a while.",
  restart: "The change restarts the resource, and connections are cut.",
  updated: "The change is made in place without an interruption.",
  created: "The resource is created.",
  bound: "The change writes the state alone; nothing is sent to the service.",
  drift: "The resource was changed outside of graphform since the last apply.",
} as const;

/** Kind of a planned change. */
type ChangeRule = keyof typeof changeRules;

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
  return fields.map((field) => {
    const text = fieldText(changedField(field, change));
    return changeFinding(change, fieldRule(field), `${address}: ${action} ${text}`, field.path);
  });
}

function driftFindings(change: Change<ShownValue>): readonly ReportFinding[] {
  return driftedFields(change).map((row) =>
    changeFinding(change, "drift", `${change.address}: ${fieldText(row)}`, row.path),
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

function place({ where }: Change<unknown>): Pick<ReportFinding, "where"> {
  return where === undefined ? {} : { where };
}
