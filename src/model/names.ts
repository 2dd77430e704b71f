/** @module Replaces ids in live specs by the names of the manifest. */
import type { Address } from "./address.ts";
import type { KindSchema } from "./field-schema.ts";
import type { Json, JsonObject } from "./json.ts";
import type { Live, Seen } from "./observed.ts";
import { referenceFields } from "./reference-fields.ts";

/** Address of a bound resource -> its outputs. */
export type OutputTable = ReadonlyMap<Address, JsonObject>;

/** Replaces the ids of bound resources by their names; an unknown id stays an id. */
export function withNames(live: Live, schema: KindSchema, outputs: OutputTable): Live {
  const named = referenceFields(schema).flatMap((field): [string, Seen][] => {
    const seen = live.spec[field.path];
    const name = seen === undefined ? undefined : nameOf(seen.value, field.section, field.output, outputs);
    return seen === undefined || name === undefined ? [] : [[field.path, { ...seen, value: name }]];
  });
  return named.length === 0 ? live : { ...live, spec: { ...live.spec, ...Object.fromEntries(named) } };
}

function nameOf(id: Json, section: string, output: string, outputs: OutputTable): string | undefined {
  for (const [address, values] of outputs) {
    if (address.startsWith(`${section}.`) && values[output] === id) return address.slice(section.length + 1);
  }
  return undefined;
}
