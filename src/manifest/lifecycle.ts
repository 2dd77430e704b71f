import type { Address } from "../model/address.ts";
import type { Lifecycle, Timeouts } from "../model/desired.ts";
import type { Json } from "../model/json.ts";
import { isObject } from "../model/json.ts";
import type { Kind } from "../model/kind.ts";
import { parseDuration } from "../model/quantity.ts";
import type { Fault } from "./finding.ts";
import type { Inventory } from "./inventory.ts";
import { suggest } from "./nearest.ts";
import { findReferents } from "./referent.ts";
import { leafPaths, type Shape } from "./shape.ts";
import type { Path } from "./source.ts";

/** What a lifecycle is read with. */
export interface LifecycleMeans {
  readonly kind: Kind;
  readonly schema: Shape;
  readonly inventory: Inventory;
  readonly sections: readonly string[];
  report(path: Path, fault: Fault): void;
}

/** The lifecycle that a resource asks for; what is of the wrong type was reported already and counts as left out. */
export function lifecycleOf(value: Json | undefined, means: LifecycleMeans): Lifecycle {
  const written = isObject(value) ? value : {};
  const protect = written["protect"];
  const onReplace = written["onReplace"];
  const onDelete = written["onDelete"];
  if (onDelete === "backup" && !means.kind.holdsData)
    means.report(["lifecycle", "onDelete"], nothingToSave(means.kind));
  return {
    ...(typeof protect === "boolean" ? { protect } : {}),
    onReplace: onReplace === "recreate" ? onReplace : "refuse",
    onDelete: onDelete === "retain" || onDelete === "backup" ? onDelete : "delete",
    ignoreChanges: ignoredPaths(written["ignoreChanges"], means),
    dependsOn: dependencies(written["dependsOn"], means),
  };
}

/** The timeouts that a resource asks for, in ms. */
export function timeoutsOf(value: Json | undefined): Timeouts {
  const written = isObject(value) ? value : {};
  const timeouts: { create?: number; update?: number; delete?: number } = {};
  for (const operation of ["create", "update", "delete"] as const) {
    const duration = written[operation];
    const ms = typeof duration === "string" ? parseDuration(duration) : undefined;
    if (ms !== undefined) timeouts[operation] = ms;
  }
  return timeouts;
}

function nothingToSave({ noun }: Kind): Fault {
  return {
    code: "nothing-to-save",
    message: `a ${noun} holds no data, and onDelete: backup would save nothing`,
    hint: "leave onDelete out, or write retain to leave it running",
  };
}

function ignoredPaths(value: Json | undefined, means: LifecycleMeans): readonly string[] {
  const known = [...leafPaths(means.schema).keys()];
  const branches = Object.keys(means.schema.properties ?? {});
  const paths = textsOf(value);
  for (const [index, path] of paths.entries()) {
    if (known.includes(path) || branches.includes(path)) continue;
    const fault = {
      code: "unknown-field",
      message: `there is no field ${JSON.stringify(path)}`,
      hint: suggest(path, known, "fields"),
    };
    means.report(["lifecycle", "ignoreChanges", index], fault);
  }
  return paths;
}

function dependencies(value: Json | undefined, means: LifecycleMeans): readonly Address[] {
  return textsOf(value).flatMap((text, index) => {
    const found = findReferents(means.inventory, text, means.sections);
    if ("addresses" in found) return found.addresses;
    means.report(["lifecycle", "dependsOn", index], found.fault);
    return [];
  });
}

function textsOf(value: Json | undefined): readonly string[] {
  return Array.isArray(value) ? value.filter((item: Json) => typeof item === "string") : [];
}
