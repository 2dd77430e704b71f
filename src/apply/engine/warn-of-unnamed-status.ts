/** @module Warns of statuses that the profile does not name, whichever wait sees them. */
import type { Driver } from "../../model/kind.ts";
import type { Live, Ref } from "../../model/observed.ts";
import type { ApplyContext } from "../context.ts";

/**
 * Wraps a driver: `get` emits a warning for a status that the profile does not name, once for each object and status of
 * a run. Such a status may never pass, and every wait reads through this driver.
 */
export function withUnnamedStatusWarnings(
  kind: string,
  driver: Driver,
  { emit, journal }: Pick<ApplyContext, "emit" | "journal">,
): Driver {
  const warned = new Set<string>();
  const get = async (ref: Ref, signal: AbortSignal): Promise<Live | undefined> => {
    const live = await driver.get(ref, signal);
    const key = `${ref.id} ${live?.phase.detail}`;
    if (live?.phase.isUnnamed !== true || warned.has(key)) return live;
    warned.add(key);
    const [address] = journal.boundTo(kind, ref);
    const message = `${ref.id} shows the status ${live.phase.detail}`;
    emit({ type: "warning", ...(address === undefined ? {} : { address }), message });
    return live;
  };
  return { ...driver, get };
}
