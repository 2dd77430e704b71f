/** @module Finds resources that depend on each other in a cycle. */
import type { Address } from "../model/address.ts";
import type { Desired } from "../model/desired.ts";
import type { Finding } from "../model/kind.ts";
import { errorAt } from "./problems/finding.ts";

/** Returns one finding for each dependency cycle; it names every member. */
export function findCycles(desired: readonly Desired[]): readonly Finding[] {
  const byAddress = new Map(desired.map((resource) => [resource.address, resource]));
  return cyclesIn(desired, byAddress).flatMap((cycle) => {
    const [first] = cycle;
    if (first === undefined) return [];
    const names = cycle.map(({ address }) => address);
    const needs =
      cycle.length === 1
        ? `${first.address} needs itself`
        : `these need each other: ${[...names, first.address].join(" -> ")}`;
    const hint = "remove one of these references, or the dependsOn that makes it";
    return [errorAt(first.where, { code: "cycle", message: needs, hint }, first.address)];
  });
}

interface Visit {
  readonly resource: Desired;
  readonly order: number;
  lowest: number;
  next: number;
  open: boolean;
}

/** Strongly connected components (Tarjan) with a cycle, without recursion: a chain may be as long as the manifest. */
function cyclesIn(
  desired: readonly Desired[],
  byAddress: ReadonlyMap<Address, Desired>,
): readonly (readonly Desired[])[] {
  const visits = new Map<Address, Visit>();
  const pending: Visit[] = [];
  const found: Desired[][] = [];
  const enter = (resource: Desired, path: Visit[]): void => {
    const visit: Visit = { resource, order: visits.size, lowest: visits.size, next: 0, open: true };
    visits.set(resource.address, visit);
    pending.push(visit);
    path.push(visit);
  };
  for (const root of desired) {
    const path: Visit[] = [];
    if (!visits.has(root.address)) enter(root, path);
    for (let visit = path.at(-1); visit !== undefined; visit = path.at(-1)) {
      const target = visit.resource.refs[visit.next++];
      if (target === undefined) {
        path.pop();
        const parent = path.at(-1);
        if (parent !== undefined) parent.lowest = Math.min(parent.lowest, visit.lowest);
        if (visit.lowest === visit.order) keepCycle(closeComponent(pending, visit), found);
        continue;
      }
      const resource = byAddress.get(target);
      const seen = visits.get(target);
      if (seen?.open === true) visit.lowest = Math.min(visit.lowest, seen.order);
      else if (seen === undefined && resource !== undefined) enter(resource, path);
    }
  }
  return found;
}

function closeComponent(pending: Visit[], root: Visit): Desired[] {
  const members = pending.splice(pending.lastIndexOf(root));
  for (const member of members) member.open = false;
  return members.map(({ resource }) => resource);
}

function keepCycle(members: Desired[], found: Desired[][]): void {
  const [first] = members;
  if (first !== undefined && (members.length > 1 || first.refs.includes(first.address))) found.push(members);
}
