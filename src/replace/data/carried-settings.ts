/** @module Carries what a dump leaves behind: libraries of functions, and the parameters that were set while the database ran. */
import { setParameters } from "../../database/settings.ts";
import { librariesOf, parametersOf } from "./inventory.ts";
import { askBoth, type Side } from "./nodes.ts";

/** Parameters that can be set while a database runs; all others are those of its configuration. */
const atRunTime = new Set(
  `TIMEOUT TIMEOUT_DEFAULT TIMEOUT_MAX RESULTSET_SIZE QUERY_MEM_CAPACITY MAX_QUEUED_QUERIES VKEY_MAX_ENTITY_COUNT CMD_INFO
  MAX_INFO_QUERIES EFFECTS_THRESHOLD DELTA_MAX_PENDING_CHANGES`.split(/\s+/),
);

/** Loads the libraries of the source, and sets its parameters, at the target. Called again it does the same. */
export async function carrySettings(
  source: Side,
  target: Side,
  keep: readonly string[],
  signal: AbortSignal,
): Promise<void> {
  const { control } = target.primary;
  for (const { name, code } of await librariesOf(source.primary.control))
    await control.one(["GRAPH.UDF", "LOAD", "REPLACE", name, code]);
  const wanted = await parametersToCarry(source, target, keep);
  if (Object.keys(wanted).length > 0) await setParameters(target.primary.target, wanted, signal);
}

/** Parameters of the source, as far as they can be carried, that the target has otherwise. */
export async function parametersToCarry(
  source: Side,
  target: Side,
  keep: readonly string[],
): Promise<{ readonly [name: string]: string | number }> {
  const [theirs, ours] = await askBoth([source, target], parametersOf);
  return Object.fromEntries(
    Object.entries(theirs ?? {}).filter(
      ([name, value]) => atRunTime.has(name) && !keep.includes(name) && ours?.[name] !== value,
    ),
  );
}
