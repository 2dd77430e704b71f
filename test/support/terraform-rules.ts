import { isDeepStrictEqual } from "node:util";
import { isObject, type Json } from "../../src/model/json.ts";

/**
 * Terraform's rules for its plan representation (JSON output format, version 1.2), written down from its documentation. They hold for
 * every tool's plan and know nothing of ours.
 */
const legalActions = [
  ["no-op"],
  ["create"],
  ["read"],
  ["update"],
  ["delete", "create"],
  ["create", "delete"],
  ["delete"],
  ["forget"],
  ["create", "forget"],
];

const reasons = [
  ...[
    "replace_because_cannot_update",
    "replace_because_tainted",
    "replace_by_request",
    "replace_by_triggers",
  ],
  ...["delete_because_no_resource_config", "delete_because_wrong_repetition", "delete_because_count_index"],
  ...["delete_because_each_key", "delete_because_no_module", "delete_because_no_move_target"],
  ...["read_because_config_unknown", "read_because_dependency_pending", "read_because_check_nested"],
];

/** The rules that a plan breaks, one sentence each. */
export function terraformViolations(plan: Json): readonly string[] {
  if (!isObject(plan)) return ["a plan is an object"];
  const {
    format_version: version,
    resource_changes: changes,
    resource_drift: drift,
    output_changes: outputs,
  } = plan;
  return [
    ...(typeof version === "string" && /^1\.\d+$/.test(version)
      ? []
      : ["format_version has the major version 1"]),
    ...["applyable", "complete", "errored"].filter((key) => typeof plan[key] !== "boolean"),
    ...(plan["errored"] === true && plan["applyable"] === true ? ["what errored is not applyable"] : []),
    ...list(changes).flatMap((entry) => resourceViolations(entry)),
    ...list(drift).flatMap((entry) => resourceViolations(entry)),
    ...(isObject(outputs) ? Object.values(outputs) : [null]).flatMap((output) =>
      isObject(output) ? changeViolations("output", output, undefined) : ["an output change is an object"],
    ),
  ];
}

function resourceViolations(entry: Json): readonly string[] {
  if (!isObject(entry)) return ["a resource change is an object"];
  const { address, mode, type, name, provider_name: provider, index, action_reason: reason, change } = entry;
  const at = String(address);
  const texts = Object.entries({ address, type, name, provider_name: provider });
  return [
    ...texts.filter(([, text]) => typeof text !== "string").map(([key]) => `${at}: ${key} is a text`),
    ...(mode === "managed" || mode === "data" ? [] : [`${at}: mode is managed or data`]),
    ...(["string", "number", "undefined"].includes(typeof index)
      ? []
      : [`${at}: index is a text or a number`]),
    ...(reason === undefined || reasons.includes(String(reason))
      ? []
      : [`${at}: unknown reason ${String(reason)}`]),
    ...(isObject(change) ? changeViolations(at, change, reason) : [`${at}: has no change`]),
  ];
}

function changeViolations(
  at: string,
  change: { readonly [key: string]: Json },
  reason: Json | undefined,
): readonly string[] {
  const { actions, before, after, replace_paths: paths, importing } = change;
  const is = (...legal: readonly string[]): boolean => isDeepStrictEqual(actions, legal);
  const replaces = is("delete", "create") || is("create", "delete");
  const because = String(reason ?? "").split("_")[0];
  const broken: readonly (readonly [boolean, string])[] = [
    [!legalActions.some((legal) => is(...legal)), "illegal actions"],
    [is("no-op") && !isDeepStrictEqual(before, after), "a no-op changes nothing"],
    [because === "replace" && !replaces, "a reason to replace without a replacement"],
    [because === "delete" && !is("delete"), "a reason to delete without a deletion"],
    [list(paths).some((path) => list(path).length === 0), "an empty replace path"],
    [list(paths).length > 0 && !replaces, "replace paths without a replacement"],
    [
      importing !== undefined && !(isObject(importing) && typeof importing["id"] === "string"),
      "importing has an id",
    ],
    ...sidesBroken(change),
  ];
  return broken.flatMap(([isBroken, rule]) => (isBroken ? [`${at}: ${rule}`] : []));
}

/** Rules about what stands on the two sides of a change. */
function sidesBroken(change: { readonly [key: string]: Json }): readonly (readonly [boolean, string])[] {
  const { actions, before, after, after_unknown: unknown } = change;
  const has = (...some: readonly string[]): boolean =>
    list(actions).some((action) => some.includes(String(action)));
  const isKnown = after !== undefined && after !== null;
  return [
    [
      !has("update", "delete", "forget", "no-op") && has("create") && before !== null,
      "a create has no before",
    ],
    [has("update", "delete", "forget") && before === null, "it has a before"],
    [has("create", "update") && unknown !== true && !isKnown, "it has an after"],
    [has("delete", "forget") && !has("create") && after !== null, "what is gone has no after"],
    [!fits(change["before_sensitive"], before ?? null, false), "before_sensitive has another shape"],
    [!fits(change["after_sensitive"], after ?? null, false), "after_sensitive has another shape"],
    [!fits(unknown, after ?? null, true), "after_unknown has another shape"],
  ];
}

/** True where marks have the shape of the value: booleans, or maps and lists of marks of its parts. An unknown part is absent. */
function fits(marks: Json | undefined, value: Json, isUnknown: boolean): boolean {
  if (typeof marks === "boolean") return true;
  if (Array.isArray(marks)) {
    return (
      marks.length === 0 ||
      (Array.isArray(value) && marks.every((mark, at) => fits(mark, value[at] ?? null, isUnknown)))
    );
  }
  if (!isObject(marks) || (value !== null && !isObject(value))) return false;
  return Object.entries(marks).every(([key, mark]) => {
    const part = isObject(value) && Object.hasOwn(value, key) ? value[key] : undefined;
    return part === undefined ? isUnknown || mark === true : fits(mark, part, isUnknown);
  });
}

function list(value: Json | undefined): readonly Json[] {
  return Array.isArray(value) ? value : [];
}
