import { disruptions } from "../model/field-schema.ts";
import type { Change } from "../model/plan.ts";
import type { Palette } from "./palette.ts";

/** Changes that are equally bad. */
export interface Group {
  readonly title: string;
  readonly note: string;
  readonly tone: keyof Palette;
  readonly changes: readonly Change[];
}

const groups: readonly (Omit<Group, "changes"> & { readonly has: (change: Change) => boolean })[] = [
  {
    title: "Blocked",
    note: "held back by a guard until somebody lifts it",
    tone: "red",
    has: (change) => change.blocked.length > 0,
  },
  {
    title: "Data loss",
    note: "what these hold is lost",
    tone: "red",
    has: (change) => change.disruption === "data-loss",
  },
  {
    title: "Replaced and deleted",
    note: "no data is lost",
    tone: "red",
    has: (change) => change.action === "replace" || change.action === "delete",
  },
  {
    title: "Restarts",
    note: "connections are cut for a while",
    tone: "yellow",
    has: (change) => change.disruption === "restart" || change.disruption === "downtime",
  },
  {
    title: "Quiet updates",
    note: "in place, nobody is interrupted",
    tone: "yellow",
    has: (change) => change.action === "update" || (change.action === "adopt" && change.fields.length > 0),
  },
  { title: "New", note: "", tone: "green", has: (change) => change.action === "create" },
  {
    title: "Bindings",
    note: "only what graphform remembers changes",
    tone: "cyan",
    has: (change) => change.action !== "keep",
  },
];

/** The changes of a plan, worst first; each stands in the first group that has it, what is kept in none. */
export function groupChanges(changes: readonly Change[]): readonly Group[] {
  const left = new Set(changes.filter((change) => change.action !== "keep"));
  return groups.flatMap(({ has, ...group }): readonly Group[] => {
    const found = [...left].filter(has);
    for (const change of found) left.delete(change);
    return found.length === 0 ? [] : [{ ...group, changes: found.sort(worseFirst) }];
  });
}

function worseFirst(a: Change, b: Change): number {
  const worse = disruptions.indexOf(b.disruption) - disruptions.indexOf(a.disruption);
  return worse === 0 ? (a.address < b.address ? -1 : 1) : worse;
}
