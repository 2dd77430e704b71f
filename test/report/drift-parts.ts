import type { DriftReport, FieldDrift, ResourceDrift } from "../../src/model/drift.ts";
import type { SourceRange } from "../../src/model/errors.ts";

/** A place in the manifest. */
export const at = (line: number, file = "graphform.yaml"): SourceRange => ({
  file,
  start: { line, column: 3 },
  end: { line, column: 9 },
});

/** A field that was changed outside. */
export const name: FieldDrift = {
  path: "config.name",
  class: "outside",
  reason: "changed outside",
  applied: "orders",
  seen: "orders-2",
  source: "echoed",
  declared: "orders",
  secret: false,
  remedy: { effect: "in-place", disruption: "none" },
  where: at(11),
};
/** A resource with two fields that were changed outside and one that does not matter. */
export const orders: ResourceDrift = {
  address: "instances.orders",
  kind: "instances",
  id: "instance-1",
  class: "outside",
  what: "changed",
  reason: "2 fields were changed outside",
  since: "2026-03-02T14:03:09.120Z",
  where: at(7),
  fields: [
    { ...name, path: "config.description", declared: "third", where: at(3, "upper.yaml") },
    name,
    { ...name, path: "config.maxMemory", class: "cosmetic", reason: "the same value in another spelling" },
  ],
  events: [{ time: "2026-03-04T09:12:00Z", message: "instance modified", user: "kim@example.com" }],
};
/** Everything that a report can have: deleted, changed, not applied, not declared, not checked, not at rest. */
export const whole: DriftReport = {
  version: 1,
  name: "shop",
  timestamp: "2026-03-05T00:00:00.000Z",
  resources: [
    {
      ...orders,
      address: 'instances.cache["eu"]',
      what: "deleted",
      reason: "instance-2 is gone",
      fields: [],
      events: [],
    },
    orders,
    {
      ...orders,
      address: "users.reader",
      kind: "users",
      class: "ours",
      what: "unapplied",
      reason: "1 field differs",
      fields: [{ ...name, path: "password", class: "ours", secret: true, applied: "hunter2" }],
      events: [],
    },
  ],
  unchanged: [{ address: "instances.still", kind: "instances", id: "instance-3", where: at(40) }],
  outputs: [{ name: "endpoint", sensitive: false, applied: "a:1", seen: "b:1" }],
  unmanaged: [{ kind: "instances", id: "instance-9", name: "somebody's" }],
  census: {
    declared: 5,
    checked: 3,
    skipped: 1,
    unmanaged: 1,
    fields: { probed: 2, described: 10, echoed: 4, recorded: 7 },
    notChecked: [{ address: "instances.new", reason: "does not exist yet" }],
    unfinished: [{ address: "instances.slow", reason: "still DEPLOYING" }],
  },
  complete: true,
};

/** The same with one text in every place that a manifest or a service may fill. */
export function saying(text: string): DriftReport {
  const field: FieldDrift = { ...name, path: text, reason: text, applied: text, seen: text, declared: "x" };
  const resource: ResourceDrift = {
    ...orders,
    address: `instances.${text}`,
    id: text,
    reason: text,
    where: at(3, `x${text}`),
    fields: [field, { ...field, class: "ours" }, { ...field, class: "cosmetic", where: at(3, `x${text}`) }],
    events: [{ time: text, message: text, user: text }],
  };
  return {
    ...whole,
    name: text,
    timestamp: text,
    resources: [
      resource,
      { ...resource, what: "deleted", fields: [], since: text },
      { ...resource, class: "ours", what: "unapplied" },
      { ...resource, class: "cosmetic", what: "unimportant" },
    ],
    unchanged: [{ address: text, kind: text, where: at(3, `x${text}`) }],
    outputs: [{ name: text, sensitive: false, applied: text, seen: text }],
    unmanaged: [{ kind: text, id: text, name: text }],
    census: {
      ...whole.census,
      notChecked: [{ address: text, reason: text }],
      unfinished: [{ address: text, reason: text }],
      probed: 1,
      notProbed: [{ address: text, reason: text }],
    },
  };
}
