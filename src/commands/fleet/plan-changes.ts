/** @module Shows the changes in the document of a plan, in the lines of `graphform plan`. */
import { parseAddress } from "../../model/address.ts";
import { disruptions } from "../../model/field-schema.ts";
import {
  defined,
  isObject,
  type Json,
  type JsonObject,
  mapped,
  objectsIn,
  textIn,
} from "../../model/json.ts";
import type { Source } from "../../model/observed.ts";
import type { Action, FieldChange, OutputChange } from "../../model/plan.ts";
import { flatten } from "../../model/spec.ts";
import {
  hasTrue,
  type RedactedChange,
  type RedactedSpec,
  type RedactedValue,
  redactValue,
} from "../../report/redact.ts";
import { blockLines, fieldLines } from "../../report/text/field-lines.ts";
import { legendLines } from "../../report/text/report-text.ts";
import { type Page, wrapIndented } from "../../report/typeset.ts";
import { actionSigns, changeBlocks, outputsOf } from "../../report/view/change-block.ts";
import { escaped } from "../../report/view/report-view.ts";
import { amount, sourceWords } from "../../report/words.ts";

/** Blocks that are shown at most. */
const mostBlocks = 40;

/** The changes of the document of a plan, those that disrupt most first, and its outputs. `whole` names the place that has all. */
export function changeLines(plan: JsonObject, whole: string, page: Page): readonly string[] {
  const facts = objectAt(objectAt(plan, "x_graphform"), "changes");
  const drift = new Map(objectsIn(plan["resource_drift"]).map((entry) => [entry["address"], entry]));
  const rank = ({ disruption }: RedactedChange): number => -disruptions.indexOf(disruption);
  const changes = objectsIn(plan["resource_changes"])
    .map((entry) => {
      const address = String(entry["address"]);
      return changeOf(address, objectAt(facts, address), [entry, drift.get(address) ?? {}]);
    })
    .filter(({ action }) => action !== "keep")
    .sort((a, b) => rank(a) - rank(b));
  const steps = objectsIn(objectAt(plan, "x_graphform")["steps"]).map(({ address, verb }) => ({
    address: String(address),
    ...defined({ verb: textIn(verb) }),
  }));
  const blocks = escaped(changeBlocks(steps, changes));
  const left = blocks.slice(mostBlocks).reduce((sum, { addresses }) => sum + addresses.length, 0);
  const more = `and ${amount(left, "change")} more: ${whole} has all`;
  const lines = blocks.slice(0, mostBlocks).flatMap((block) => blockLines(block, page, `${whole} has all`));
  const outputs = escaped(outputsOf({ outputs: mapped(objectAt(plan, "output_changes"), outputChange) }));
  const all = [
    ...lines,
    ...(left === 0 ? [] : wrapIndented("  ", more, page.width)),
    ...(outputs.length === 0 ? [] : ["", "Outputs:", ...fieldLines(outputs, 2, page)]),
  ];
  const legend = legendLines(all, true, page);
  return legend.length === 0 ? all : [...all, "", ...legend];
}

/** A change as reports take it: of its facts, and of what the document says of the object and of its drift. */
function changeOf(
  address: string,
  facts: JsonObject,
  [entry, drift]: readonly [JsonObject, JsonObject],
): RedactedChange {
  const shown = sidesOf(objectAt(entry, "change"));
  const outside = sidesOf(objectAt(drift, "change"));
  const { action, disruption, gone, backup_first } = facts;
  return {
    address,
    kind: parseAddress(address)?.section ?? "",
    action: isAction(action) ? action : "update",
    reason: String(facts["reason"]),
    disruption: disruptions.find((known) => known === disruption) ?? "none",
    fields: fieldsIn(objectAt(facts, "fields"), shown),
    drift: fieldsIn(objectAt(facts, "drift"), outside),
    blocked: objectsIn(facts["blocked"]).map(({ code, message, lift }) => ({
      code: String(code),
      message: String(message),
      lift: String(lift),
    })),
    ...defined({ id: textIn(facts["id"]), previousAddress: textIn(entry["previous_address"]) }),
    ...shown,
    ...(gone === true ? { gone } : {}),
    ...(backup_first === true ? { backupFirst: true } : {}),
  };
}

function fieldsIn(fields: JsonObject, { before, after }: Sides): readonly FieldChange<RedactedValue>[] {
  return Object.keys(fields)
    .sort()
    .map((path) => {
      const { effect, disruption, secret, source, via, way_out } = objectAt(fields, path);
      return {
        path,
        effect: effect === "replace" ? "replace" : "in-place",
        disruption: disruptions.find((known) => known === disruption) ?? "none",
        secret: secret === true,
        ...(via === "database" ? { via } : {}),
        ...(isSource(source) && before[path] !== undefined ? { source } : {}),
        ...defined({ before: before[path], after: after[path], wayOut: textIn(way_out) }),
      };
    });
}

type Sides = Readonly<Record<"before" | "after", RedactedSpec>>;

/** Both sides of a change, by the paths of their fields. */
function sidesOf(change: JsonObject): Sides {
  const side = (name: "before" | "after"): RedactedSpec => {
    const [secret, unknown] = [`${name}_sensitive`, `${name}_unknown`].map((marks) =>
      flatten(objectAt(change, marks)),
    );
    const values: { readonly [path: string]: Json } = { ...unknown, ...flatten(objectAt(change, name)) };
    const paths = Object.keys(values).sort();
    return Object.fromEntries(
      paths.map((path) => [
        path,
        redactValue(withUnknown(values[path] ?? null, unknown?.[path]), secret?.[path] === true),
      ]),
    );
  };
  return { before: side("before"), after: side("after") };
}

/** The value with a reference at each place whose value is known only after the apply. */
function withUnknown(value: Json, marks: Json | undefined): Json {
  if (marks === true) return { $ref: "known after apply" };
  if (!Array.isArray(marks)) return value;
  return Array.isArray(value) ? value.map((inner, at) => withUnknown(inner, marks[at])) : value;
}

function outputChange(output: Json): OutputChange<RedactedValue> {
  const change = isObject(output) ? output : {};
  const { actions, before = null, after = null, after_unknown, before_sensitive, after_sensitive } = change;
  const action = (["create", "update", "delete"] as const).find(
    (known) => Array.isArray(actions) && actions[0] === known,
  );
  return {
    action: action ?? "no-op",
    ...(before === null ? {} : { before: redactValue(before, before_sensitive === true) }),
    ...(after === null ? {} : { after: redactValue(after, after_sensitive === true) }),
    unknown: hasTrue(after_unknown ?? false),
    sensitive: after_sensitive === true,
  };
}

function objectAt(object: JsonObject, member: string): JsonObject {
  const value = object[member];
  return isObject(value) ? value : {};
}

function isAction(value: unknown): value is Action {
  return typeof value === "string" && Object.hasOwn(actionSigns, value);
}

function isSource(value: unknown): value is Source {
  return typeof value === "string" && Object.hasOwn(sourceWords, value);
}
