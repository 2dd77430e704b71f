/** @module Finds the resources that `x-reference` fields name. */

import type { Address } from "../model/address.ts";
import { parseAddress } from "../model/address.ts";
import type { KindSchema } from "../model/field-schema.ts";
import type { Spec } from "../model/spec.ts";
import { referenceFields } from "../model/templates.ts";
import type { Inventory } from "./inventory.ts";
import type { Fault } from "./problems/finding.ts";
import { findReferent } from "./referent.ts";
import type { Path } from "./source.ts";

/** A field whose value names a resource of another section. */
export interface NamedReference {
  readonly path: string;
  readonly address: Address;
}

/** The addresses that the `x-reference` fields of a spec name: a name, or name["key"]. */
export function namedReferences(
  spec: Spec,
  schema: KindSchema,
  inventory: Inventory,
  report: (path: Path, fault: Fault) => void,
): readonly NamedReference[] {
  const found: NamedReference[] = [];
  for (const { path, section } of referenceFields(schema)) {
    const name = spec[path];
    if (typeof name !== "string" || name === "") continue;
    const parts = parseAddress(`${section}.${name}`);
    const referent = parts === undefined ? { fault: noName(name, section) } : findReferent(inventory, parts);
    if ("address" in referent) found.push({ path, address: referent.address });
    else report(path.split("."), referent.fault);
  }
  return found;
}

function noName(text: string, section: string): Fault {
  const shorter = text.startsWith(`${section}.`) ? text.slice(section.length + 1) : undefined;
  const hint =
    shorter === undefined
      ? `write a name under ${section}, or name["key"]`
      : `write ${shorter}: the section is known`;
  return { code: "bad-reference", message: `${JSON.stringify(text)} is not a name under ${section}`, hint };
}
