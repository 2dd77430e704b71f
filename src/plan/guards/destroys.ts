/** @module Decides which changes delete an existing object. */
import type { Change } from "../../model/plan.ts";

/** True for changes that delete the object that is there. */
export function destroys({ action }: Pick<Change, "action">): boolean {
  return action === "delete" || action === "replace";
}
