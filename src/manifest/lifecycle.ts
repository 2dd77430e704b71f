/** @module Reads the `lifecycle` and `timeouts` of a resource. */
import type { Address } from "../model/address.ts";
import type { Lifecycle, MigrationRules, Timeouts } from "../model/desired.ts";
import { fieldRows } from "../model/field-schema.ts";
import { defined, type Json } from "../model/json.ts";
import type { Kind } from "../model/kind.ts";
import { parseDuration } from "../model/quantity.ts";
import type { Inventory } from "./inventory.ts";
import type { Report } from "./problems/fault.ts";
import { suggest } from "./problems/nearest.ts";
import { findReferents } from "./referent.ts";
import { mapOf, textsOf } from "./values.ts";

/** Values of the wrong type count as left out: validation has reported them. */
export function lifecycleOf(
  value: Json | undefined,
  kind: Kind,
  { inventory, sections }: { readonly inventory: Inventory; readonly sections: readonly string[] },
  report: Report,
): Lifecycle {
  const { protect, onReplace, migration, onDelete, ignoreChanges, dependsOn } = mapOf(value);
  if (onDelete === "backup" && !kind.holdsData)
    report.error(["lifecycle", "onDelete"], {
      code: "nothing-to-save",
      message: `a ${kind.noun} holds no data, and onDelete: backup would save nothing`,
      hint: "leave onDelete out, or write retain to leave it running",
    });
  if (onReplace === "migrate" && !kind.holdsData)
    report.error(["lifecycle", "onReplace"], {
      code: "nothing-to-save",
      message: `a ${kind.noun} holds no data, and onReplace: migrate would move nothing`,
      hint: "leave onReplace out, or write recreate",
    });
  const ignored = textsOf(ignoreChanges);
  const known = [...fieldRows(kind.schema).keys()];
  for (const [index, path] of ignored.entries()) {
    if (known.includes(path) || Object.hasOwn(kind.schema.properties, path)) continue;
    const message = `there is no field ${JSON.stringify(path)}`;
    const hint = suggest(path, known, "fields");
    report.error(["lifecycle", "ignoreChanges", index], { code: "unknown-field", message, hint });
  }
  const needed = textsOf(dependsOn).flatMap((text, index): readonly Address[] => {
    const found = findReferents(inventory, text, sections);
    if ("addresses" in found) return found.addresses;
    report.error(["lifecycle", "dependsOn", index], found.fault);
    return [];
  });
  return {
    ...(typeof protect === "boolean" ? { protect } : {}),
    onReplace: onReplace === "recreate" || onReplace === "migrate" ? onReplace : "refuse",
    ...(onReplace === "migrate" ? { migration: migrationOf(migration) } : {}),
    onDelete: onDelete === "retain" || onDelete === "backup" ? onDelete : "delete",
    ignoreChanges: ignored,
    dependsOn: needed,
  };
}

const day = 24 * 3600 * 1000;

function migrationOf(value: Json | undefined): MigrationRules {
  const { windows, maxReadOnly, hold, hook } = mapOf(value);
  const ms = (written: Json | undefined): number | undefined =>
    typeof written === "string" ? parseDuration(written) : undefined;
  const command = textsOf(hook);
  return {
    windows: textsOf(windows),
    hold: ms(hold) ?? day,
    ...defined({ maxReadOnly: ms(maxReadOnly) }),
    ...(command.length === 0 ? {} : { hook: command }),
  };
}

/** Timeouts in ms; values of the wrong type count as left out. */
export function timeoutsOf(value: Json | undefined): Timeouts {
  const written = mapOf(value);
  const timeouts: { create?: number; update?: number; delete?: number } = {};
  for (const operation of ["create", "update", "delete"] as const) {
    const duration = written[operation];
    const ms = typeof duration === "string" ? parseDuration(duration) : undefined;
    if (ms !== undefined) timeouts[operation] = ms;
  }
  return timeouts;
}
