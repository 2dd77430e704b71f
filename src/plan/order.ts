import type { Address } from "../model/address.ts";
import type { Step } from "../model/plan.ts";
import type { StateDocument } from "../model/state.ts";

/**
 * Joins the steps of all addresses into one order.
 *
 *     create or update X      after everything that X's desired references name is there
 *     delete X                after everything is deleted that is known to refer to X
 */
export function order(steps: readonly Step[], state: StateDocument): readonly Step[] {
  const building = grouped(steps, (step) => step.operation !== "delete" && step.operation !== "forget");
  const removing = grouped(steps, (step) => step.operation === "delete");
  return steps.map((step) => {
    const others = step.operation === "delete" ? deletedFirst(step, removing, state) : builtFirst(step, building);
    return { ...step, after: [...new Set([...step.after, ...others])].sort() };
  });
}

function builtFirst(step: Step, building: ReadonlyMap<Address, readonly string[]>): readonly string[] {
  if (step.operation === "bind" || step.operation === "move" || step.operation === "forget") return [];
  return (step.refs ?? []).filter((ref) => ref !== step.address).flatMap((ref) => building.get(ref) ?? []);
}

function deletedFirst(step: Step, removing: ReadonlyMap<Address, readonly string[]>, state: StateDocument): readonly string[] {
  return Object.entries(state.resources)
    .filter(([address, bound]) => address !== step.address && bound.refs.includes(step.address))
    .flatMap(([address]) => removing.get(address) ?? []);
}

function grouped(steps: readonly Step[], wanted: (step: Step) => boolean): ReadonlyMap<Address, readonly string[]> {
  const groups = new Map<Address, string[]>();
  for (const step of steps.filter(wanted)) {
    const group = groups.get(step.address);
    if (group === undefined) groups.set(step.address, [step.key]);
    else group.push(step.key);
  }
  return groups;
}
