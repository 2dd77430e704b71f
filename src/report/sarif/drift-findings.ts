/** @module Turns a drift report into findings: one for each field that differs, and for everything that could not be observed. */

import type { FieldDrift, ResourceDrift } from "../../model/drift.ts";
import { defined } from "../../model/json.ts";
import type { ShownDrift } from "../shown.ts";
import type { ShownValue } from "../shown-value.ts";
import { unseenIn } from "../view/census-view.ts";
import { undeclaredRemedy } from "../view/drift-view.ts";
import { driftField, fieldText } from "../view/field-view.ts";
import { type FindingLevel, type ReportFinding, worstFirst } from "./sarif-log.ts";

/** One sentence for each kind of difference, with the way out. */
const rules = {
  gone: "A resource was deleted outside of graphform. Apply creates it again; remove its block, or its entry in forEach, where the deletion is meant.",
  failed:
    "The service says that a resource has failed. Look at it there; apply tries again what was declared.",
  outside:
    "A field was changed outside of graphform since the last apply. Apply puts it back; drift --adopt takes it over.",
  unmanaged: `An object that nobody declares: ${undeclaredRemedy}.`,
  unseen:
    "A resource or a whole list could not be read, or a running database gave no answer: nobody knows that nothing has drifted there.",
  ours: "The manifest has changed, and was not applied yet. That is a plan, and no drift.",
  cosmetic: "A field differs, and nothing that matters has changed.",
} as const;

type Rule = keyof typeof rules;

const levels: { readonly [rule in Rule]: FindingLevel } = {
  gone: "error",
  failed: "error",
  outside: "warning",
  unmanaged: "warning",
  unseen: "note",
  ours: "note",
  cosmetic: "note",
};

const ranks: readonly string[] = Object.keys(rules).map((rule) => `drift-${rule}`);

/** The differences as findings, worst first; a resource without fields of the worst class has one for itself. */
export function driftFindings(report: ShownDrift): readonly ReportFinding[] {
  const { resources, unchanged, unmanaged = [] } = report;
  const places = new Map([...resources, ...unchanged].map(({ address, where }) => [`${address}`, where]));
  const found = [
    ...resources.flatMap((resource) => resourceFindings(resource)),
    ...unmanaged.map(({ kind, id, name }) => {
      const called = name === undefined ? "" : ` ${JSON.stringify(name)}`;
      return finding("unmanaged", `${kind} ${id}${called} is not declared`, [id, ""]);
    }),
    ...unseenIn(report).map(({ address, reason }) =>
      finding("unseen", `${address}: ${reason}`, [address, ""], places.get(address)),
    ),
  ];
  return worstFirst(found, ranks);
}

function resourceFindings(resource: ResourceDrift<ShownValue>): readonly ReportFinding[] {
  const { address, what, reason, fields, where } = resource;
  const whole = wholeRule(resource);
  const isSaid =
    whole === "gone" || whole === "failed" || fields.every((field) => field.class !== resource.class);
  return [
    ...(isSaid ? [finding(whole, `${address}: ${what}: ${reason}`, [address, ""], where)] : []),
    ...fields.map((field) => fieldFinding(field, resource)),
  ];
}

function wholeRule({ what, class: is }: ResourceDrift<unknown>): Rule {
  if (what === "deleted") return "gone";
  return what === "failed" ? "failed" : is;
}

function fieldFinding(field: FieldDrift<ShownValue>, resource: ResourceDrift<unknown>): ReportFinding {
  const message = `${resource.address}: ${fieldText(driftField(field))}`;
  return finding(field.class, message, [resource.address, field.path], field.where ?? resource.where);
}

function finding(
  rule: Rule,
  message: string,
  parts: readonly string[],
  where?: ReportFinding["where"],
): ReportFinding {
  return {
    rule: `drift-${rule}`,
    help: rules[rule],
    level: levels[rule],
    message,
    ...defined({ where }),
    fingerprint: { name: "resourceField/v1", parts: [...parts, `drift-${rule}`] },
  };
}
