/** @module Turns the changes, guards and drift of a plan, and a drift report, into findings. */
import type { ResourceDrift } from "../../model/drift.ts";
import { defined, own } from "../../model/json.ts";
import type { Change, Guard } from "../../model/plan.ts";
import type { RedactedChange, RedactedDrift, RedactedPlan, RedactedValue } from "../redact.ts";
import { unseenIn } from "../view/census-view.ts";
import { changedField, driftedFields, driftField, fieldText } from "../view/change-block.ts";
import { undeclaredRemedy } from "../view/drift-view.ts";
import { levels, type ReportFinding } from "./sarif-log.ts";

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
    "The service shows nothing any more of what the state binds, or nothing of one tier. Plan with the rights and the account of the last apply, allow it with --allow-destroy ADDRESS, or remove the entries with state rm.",
  "fewer-files":
    "A file of the manifest that the last apply had was not given, and the resource is declared nowhere else. Give it with -f, or use state rebind if it is no part of the manifest any more.",
  "in-doubt":
    "Nothing proves that the object is gone, that it is there, or that it is what a create has made. Plan with the rights and the account that show it, or use state rm or import.",
  "in-use":
    "An object that stays stands on this one, and the service refuses to delete what is in use. Leave it as it is, let go of it too, or delete that object first.",
  "kept-by-service":
    "The service refuses to delete a resource with deletion protection. Switch it off first.",
  "max-change-percent":
    "More resources change than guards.maxChangePercent allows. Raise the limit, or plan with --target.",
  "max-deletes":
    "More resources are destroyed than guards.maxDeletes allows. Raise the limit, or plan with --target.",
  "max-disruption": "The change is more disruptive than guards.maxDisruption or --max-disruption allows.",
  "may-exist":
    "An object of this name exists, and this state does not know whose it is. Import it, or rename the declared resource.",
  "moved-taken": "The new address of a move is already bound to an object. Remove one of the two.",
  "needed-by-left-out":
    "An object that --exclude or --target leaves out stands on this one, and would be deleted with it. Plan both, or neither.",
  "not-offered": "The profile has no operation for this change. Make the change in another way.",
  "on-replace":
    "The change needs a replacement, and lifecycle.onReplace refuses it. Allow it with --replace ADDRESS.",
  "output-missing":
    "The new object needs an output that is not shown now, and nothing in the plan makes it. Start or mend the object that it refers to, and plan again.",
  protect:
    "The resource is protected from deletion and replacement. Allow it with --allow-destroy ADDRESS, or set lifecycle.protect: false.",
};

/** Level and sentence of each kind of planned change and of drift, worst first. */
const rules = {
  "plan-data-loss": ["error", "The change loses data. Make sure that a backup exists before it is applied."],
  "plan-replaced": ["warning", "The resource is deleted and created again."],
  "plan-deleted": ["warning", "The resource is deleted."],
  "plan-downtime": ["warning", "The change makes the resource unavailable for a while."],
  "plan-restart": ["warning", "The change restarts the resource, and connections are cut."],
  "plan-updated": ["note", "The change is made in place without an interruption."],
  "plan-created": ["note", "The resource is created."],
  "plan-bound": ["note", "The change writes the state alone; nothing is sent to the service."],
  "plan-drift": ["warning", "The resource was changed outside of graphform since the last apply."],
  "drift-gone": [
    "error",
    "A resource was deleted outside of graphform. Apply creates it again; remove its block, or its entry in forEach, if the deletion is meant.",
  ],
  "drift-failed": [
    "error",
    "The service says that a resource has failed. Look at it there; apply tries again what was declared.",
  ],
  "drift-outside": [
    "warning",
    "A field was changed outside of graphform since the last apply. Apply puts it back; drift --adopt takes it over.",
  ],
  "drift-unmanaged": ["warning", `An object that is not declared: ${undeclaredRemedy}.`],
  "drift-unseen": [
    "note",
    "A resource or a whole list could not be read, or a running database gave no answer: whether it has drifted is not known.",
  ],
  "drift-ours": ["note", "The manifest has changed, and was not applied yet. That is a plan, and no drift."],
  "drift-cosmetic": ["note", "A field differs, and nothing that matters has changed."],
} as const;

type Rule = keyof typeof rules;

/** Loss of data comes first, then everything that a guard blocks. */
const ranks: readonly string[] = ["plan-data-loss", "guard", ...Object.keys(rules)];

/** A finding about a field, or with an empty one about the whole object of an address or an id. */
function finding(
  rule: Rule,
  message: string,
  about: readonly [address: string, field: string],
  where?: ReportFinding["where"],
): ReportFinding {
  const [level, help] = rules[rule];
  const fingerprint = { name: "resourceField/v1", parts: [...about, rule] };
  return { rule, help, level, message, ...defined({ where }), fingerprint };
}

/** The guards, changes and drift of a plan as findings, worst first. Resources that stay as they are give none. */
export function planFindings(plan: RedactedPlan): readonly ReportFinding[] {
  const findings = plan.changes.flatMap((change) => [
    ...change.blocked.map((guard) => guardFinding(change, guard)),
    ...(change.action === "keep" ? [] : changeFindings(change)),
    ...driftedFields(change).map((row) => {
      const about = [change.address, row.path] as const;
      return finding("plan-drift", `${change.address}: ${fieldText(row)}`, about, change.where);
    }),
  ]);
  return worstFirst(findings);
}

function guardFinding(change: RedactedChange, { code, message, lift }: Guard): ReportFinding {
  const { address, action, where } = change;
  const rule = `guard-${code}`;
  return {
    rule,
    help: own(guardRules, code) ?? "A guard blocks this change until it is lifted.",
    level: "error",
    message: `${address}: ${action} is blocked: ${message} (way out: ${lift})`,
    ...defined({ where }),
    fingerprint: { name: "resourceField/v1", parts: [address, "", rule] },
  };
}

/** An update gives a finding for each field, so that each has its own identity; every other change gives one. */
function changeFindings(change: RedactedChange): readonly ReportFinding[] {
  const { action, address, fields, forcedBy = "", reason, where } = change;
  const inPlace = action === "update" || action === "adopt";
  if (!inPlace || fields.length === 0)
    return [finding(ruleOf(change), `${address}: ${action}: ${reason}`, [address, forcedBy], where)];
  return fields.map((field) => {
    const rule = field.disruption === "none" ? "plan-updated" : (`plan-${field.disruption}` as const);
    const text = `${address}: ${action} ${fieldText(changedField(field, change))}`;
    return finding(rule, text, [address, field.path], where);
  });
}

function ruleOf({ action, disruption }: Change<unknown>): Rule {
  if (disruption === "data-loss") return "plan-data-loss";
  if (action === "replace") return "plan-replaced";
  if (action === "delete") return "plan-deleted";
  if (disruption !== "none") return `plan-${disruption}`;
  if (action === "create") return "plan-created";
  return action === "update" ? "plan-updated" : "plan-bound";
}

/** The differences as findings, worst first; a resource without fields of the worst class has one for itself. */
export function driftFindings(report: RedactedDrift): readonly ReportFinding[] {
  const { resources, unchanged, unmanaged = [] } = report;
  const places = new Map([...resources, ...unchanged].map(({ address, where }) => [`${address}`, where]));
  const found = [
    ...resources.flatMap((resource) => resourceFindings(resource)),
    ...unmanaged.map(({ kind, id, name }) => {
      const called = name === undefined ? "" : ` ${JSON.stringify(name)}`;
      return finding("drift-unmanaged", `${kind} ${id}${called} is not declared`, [id, ""]);
    }),
    ...unseenIn(report).map(({ address, reason }) =>
      finding("drift-unseen", `${address}: ${reason}`, [address, ""], places.get(address)),
    ),
  ];
  return worstFirst(found);
}

function resourceFindings(resource: ResourceDrift<RedactedValue>): readonly ReportFinding[] {
  const { address, what, reason, fields, where } = resource;
  const isWhole = what === "deleted" || what === "failed";
  const isSaid = isWhole || fields.every((field) => field.class !== resource.class);
  const whole = what === "deleted" ? "gone" : what === "failed" ? "failed" : resource.class;
  return [
    ...(isSaid ? [finding(`drift-${whole}`, `${address}: ${what}: ${reason}`, [address, ""], where)] : []),
    ...fields.map((field) => {
      const message = `${address}: ${fieldText(driftField(field))}`;
      return finding(`drift-${field.class}`, message, [address, field.path], field.where ?? where);
    }),
  ];
}

/** Findings, worst first: by level, then in the order of their rules (all guards are one, `guard`), then by what they are about. */
function worstFirst(findings: readonly ReportFinding[]): readonly ReportFinding[] {
  const ranked = findings.map((finding) => ({
    finding,
    level: levels.indexOf(finding.level),
    rule: ranks.indexOf(finding.rule.replace(/^guard-.*/, "guard")),
    subject: finding.fingerprint.parts.join("\n"),
  }));
  const bySubject = (a: string, b: string): number => (a === b ? 0 : a < b ? -1 : 1);
  ranked.sort((a, b) => a.level - b.level || a.rule - b.rule || bySubject(a.subject, b.subject));
  return ranked.map(({ finding }) => finding);
}
