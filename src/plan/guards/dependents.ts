/** @module Blocks the changes that depend on a blocked one. */
import type { Address } from "../../model/address.ts";
import type { Change, Guard } from "../../model/plan.ts";
import { destroys } from "./protection.ts";

/** References of each address: those that are declared, and those that its object has now. */
export interface References {
  readonly wantedBy: (address: Address) => readonly Address[];
  readonly heldBy: (address: Address) => readonly Address[];
}

/** Blocks dependents of blocked changes: resources that refer to one, and deletions that one would have to release first. */
export function guardDependents(changes: readonly Change[], references: References): readonly Change[] {
  const result = new Map(changes.map((change) => [change.address, change]));
  const queue = changes.filter((change) => change.blocked.length > 0);
  for (let cause = queue.shift(); cause !== undefined; cause = queue.shift()) {
    for (const change of changes) {
      const found = result.get(change.address);
      if (found === undefined || found.blocked.length > 0 || !depends(change, cause, references)) continue;
      const blocked = { ...change, blocked: [dependencyGuard(cause.address)] };
      result.set(change.address, blocked);
      queue.push(blocked);
    }
  }
  return changes.map((change) => result.get(change.address) ?? change);
}

function depends(change: Change, cause: Change, { wantedBy, heldBy }: References): boolean {
  if (change.address === cause.address) return false;
  if (destroys(change) && heldBy(cause.address).includes(change.address)) {
    const wouldLetGo = destroys(cause) || !wantedBy(cause.address).includes(change.address);
    if (wouldLetGo) return true;
  }
  const wants =
    change.action === "create" ||
    change.action === "update" ||
    change.action === "replace" ||
    change.action === "migrate" ||
    change.action === "adopt";
  return wants && cause.action !== "delete" && wantedBy(change.address).includes(cause.address);
}

function dependencyGuard(address: Address): Guard {
  return {
    code: "depends-on-blocked",
    message: `${address} is blocked`,
    lift: `lift the guard of ${address}`,
  };
}
