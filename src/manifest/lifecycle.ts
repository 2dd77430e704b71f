/** @module Reads the `lifecycle` and `timeouts` of a resource. */
import type { Address } from "../model/address.ts";
import type { Lifecycle, Timeouts } from "../model/desired.ts";
import type { Json } from "../model/json.ts";
import { isObject } from "../model/json.ts";
import type { Kind } from "../model/kind.ts";
import { parseDuration } from "../model/quantity.ts";
import type { Inventory } from "./inventory.ts";
import type { Fault } from "./problems/finding.ts";
import { suggest } from "./problems/nearest.ts";
import { findReferents } from "./referent.ts";
import { leafPaths, type Shape } from "./schema/shape.ts";
import type { Path } from "./source.ts";

/** Inputs of `lifecycleOf`. */
export interface LifecycleInputs {
  readonly kind: Kind;
  readonly schema: Shape;
  readonly inventory: Inventory;
  readonly sections: readonly string[];
  report(path: Path, fault: Fault): void;
}

/** Values of the wrong type count as left out: validation has reported them. */
export function lifecycleOf(value: Json | undefined, inputs: LifecycleInputs): Lifecycle {
  const written = isObject(value) ? value : {};
  const protect = written["protect"];
  const onReplace = written["onReplace"];
  const onDelete = written["onDelete"];
  if (onDelete === "backup" && !inputs.kind.holdsData)
    inputs.report(["lifecycle", "onDelete"], nothingToSave(inputs.kind));
  return {
    ...(typeof protect === "boolean" ? { protect } : {}),
    onReplace: onReplace === "recreate" ? onReplace : "refuse",
    onDelete: onDelete === "retain" || onDelete === "backup" ? onDelete : "delete",
    ignoreChanges: ignoredPaths(written["ignoreChanges"], inputs),
    dependsOn: dependencies(written["dependsOn"], inputs),
  };
}

/** Timeouts in ms; values of the wrong type count as left out. */
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

function ignoredPaths(value: Json | undefined, inputs: LifecycleInputs): readonly string[] {
  const known = [...leafPaths(inputs.schema).keys()];
  const branches = Object.keys(inputs.schema.properties ?? {});
  const paths = textsOf(value);
  for (const [index, path] of paths.entries()) {
    if (known.includes(path) || branches.includes(path)) continue;
    const fault = {
      code: "unknown-field",
      message: `there is no field ${JSON.stringify(path)}`,
      hint: suggest(path, known, "fields"),
    };
    inputs.report(["lifecycle", "ignoreChanges", index], fault);
  }
  return paths;
}

function dependencies(value: Json | undefined, inputs: LifecycleInputs): readonly Address[] {
  return textsOf(value).flatMap((text, index) => {
    const found = findReferents(inputs.inventory, text, inputs.sections);
    if ("addresses" in found) return found.addresses;
    inputs.report(["lifecycle", "dependsOn", index], found.fault);
    return [];
  });
}

function textsOf(value: Json | undefined): readonly string[] {
  return Array.isArray(value) ? value.filter((item: Json) => typeof item === "string") : [];
}
