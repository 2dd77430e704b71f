/** @module Describes guards and kinds of planned changes for tools that list rules. */

/** One sentence for each code of a guard, with the way to lift it. */
export const guardRules: { readonly [code: string]: string } = {
  "another-object":
    "The bound id is that of another object by now: it shows another time of its creation. Use state rm, and then import if it is to be managed.",
  "bound-elsewhere":
    "Another address is bound to the same object, and declared as well. Remove one of the two, or write a moved entry.",
  "depends-on-blocked": "The change depends on a change that is blocked. Lift the guard of that one first.",
  "create-in-doubt":
    "Nothing tells what an earlier create has made. Look at the objects that are named, and use import or state rm.",
  "empty-manifest":
    "The manifest is empty, and the state knows resources. Use destroy where everything is to be deleted.",
  "everything-gone":
    "The service shows nothing any more of what the state binds. Plan with the rights and the account of the last apply, allow it with --allow-destroy ADDRESS, or remove the entries with state rm.",
  "in-doubt":
    "Nothing proves that the object is gone, or that it is there. Plan with the rights and the account that show it, or use state rm or import.",
  "kept-by-service":
    "The service refuses to delete a resource with deletion protection. Switch it off first.",
  "max-change-percent":
    "More resources change than guards.maxChangePercent allows. Raise the limit, or plan with --target.",
  "max-deletes":
    "More resources are destroyed than guards.maxDeletes allows. Raise the limit, or plan with --target.",
  "max-disruption": "The change is more disruptive than guards.maxDisruption or --max-disruption allows.",
  "may-exist":
    "An object of this name exists, and no state says whose it is. Import it, or rename the declared resource.",
  "moved-taken": "The new address of a move is already bound to an object. Remove one of the two.",
  "needed-by-left-out":
    "An object that --exclude or --target leaves out stands on this one, and would be deleted with it. Plan both, or neither.",
  "not-offered": "The profile has no operation for this change. Make the change in another way.",
  "on-replace":
    "The change needs a replacement, and lifecycle.onReplace refuses it. Allow it with --replace ADDRESS.",
  protect:
    "The resource is protected from deletion and replacement. Allow it with --allow-destroy ADDRESS, or set lifecycle.protect: false.",
};

/** One sentence for each kind of planned change. */
export const changeRules = {
  "data-loss": "The change loses data. Make sure that a backup exists before it is applied.",
  replaced: "The resource is deleted and created again.",
  deleted: "The resource is deleted.",
  downtime: "The change makes the resource unavailable for a while.",
  restart: "The change restarts the resource, and connections are cut.",
  updated: "The change is made in place without an interruption.",
  created: "The resource is created.",
  bound: "The change writes the state alone; nothing is sent to the service.",
  drift: "The resource was changed outside of graphform since the last apply.",
} as const;

/** Kind of a planned change. */
export type ChangeRule = keyof typeof changeRules;
