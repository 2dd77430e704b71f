/** @module Groups the changes of a plan by severity. */
import { disruptions } from "../model/field-schema.ts";
import type { Change } from "../model/plan.ts";
import type { Palette } from "./palette.ts";

/** Changes of equal severity. */
export interface Group<Value> {
  readonly title: string;
  readonly note: string;
  readonly tone: keyof Palette;
  /** True where every report names each resource: it loses data, is replaced or interrupted. */
  readonly named?: true;
  readonly changes: readonly Change<Value>[];
}

const groups: readonly (Omit<Group<unknown>, "changes"> & {
  readonly matches: (change: Change<unknown>) => boolean;
})[] = [
  {
    title: "Gone",
    note: "deleted outside graphform, and their data with them",
    tone: "red",
    named: true,
    matches: (change) => change.gone === true,
  },
  {
    title: "Blocked",
    note: "a guard refuses these until it is lifted",
    tone: "red",
    matches: (change) => change.blocked.length > 0,
  },
  {
    title: "Data loss",
    note: "the data of these is lost",
    tone: "red",
    named: true,
    matches: (change) => change.disruption === "data-loss",
  },
  {
    title: "Replaced and deleted",
    note: "no data is lost",
    tone: "red",
    named: true,
    matches: (change) => change.action === "replace" || change.action === "delete",
  },
  {
    title: "Restarts",
    note: "connections are cut for a while",
    tone: "yellow",
    named: true,
    matches: (change) => change.disruption === "restart" || change.disruption === "downtime",
  },
  {
    title: "Quiet updates",
    note: "in place, nobody is interrupted",
    tone: "yellow",
    matches: (change) =>
      change.action === "update" || (change.action === "adopt" && change.fields.length > 0),
  },
  { title: "New", note: "", tone: "green", matches: (change) => change.action === "create" },
  {
    title: "Bindings",
    note: "only the state changes",
    tone: "cyan",
    matches: (change) => change.action !== "keep",
  },
];

/** Groups changes, worst first. Each is in the first group that matches; unchanged resources are in none. */
export function groupChanges<Value>(changes: readonly Change<Value>[]): readonly Group<Value>[] {
  const left = new Set(changes.filter((change) => change.action !== "keep"));
  return groups.flatMap(({ matches, ...group }): readonly Group<Value>[] => {
    const found = [...left].filter(matches);
    for (const change of found) left.delete(change);
    return found.length === 0 ? [] : [{ ...group, changes: found.sort(worseFirst) }];
  });
}

function worseFirst(a: Change<unknown>, b: Change<unknown>): number {
  const worse = disruptions.indexOf(b.disruption) - disruptions.indexOf(a.disruption);
  return worse === 0 ? (a.address < b.address ? -1 : 1) : worse;
}
