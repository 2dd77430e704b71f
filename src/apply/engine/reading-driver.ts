/** @module Judges what every look of an apply shows: another object under a bound id, and statuses that the profile does not name. */
import { GraphformError } from "../../model/errors.ts";
import type { Driver } from "../../model/kind.ts";
import { anotherObject, waysFromAnother } from "../../model/object-key.ts";
import type { Live, Ref } from "../../model/observed.ts";
import type { ApplyContext } from "../context.ts";

/**
 * Wraps a driver, which every step looks through before it writes. `get` rejects with `another-object` (exit 6) if a bound id is
 * that of another object by now. It emits a warning for a status that the profile does not name, once for each object and status
 * of a run: such a status may never pass.
 */
export function readingDriver(
  kind: string,
  driver: Driver,
  { emit, journal }: Pick<ApplyContext, "emit" | "journal">,
): Driver {
  const warned = new Set<string>();
  const get = async (ref: Ref, signal: AbortSignal): Promise<Live | undefined> => {
    const live = await driver.get(ref, signal);
    if (live === undefined) return undefined;
    const [address] = journal.boundTo(kind, ref);
    const bound = address === undefined ? undefined : journal.state.resources[address];
    const another = anotherObject(bound, live);
    if (address !== undefined && another !== undefined)
      throw new GraphformError("another-object", another, {
        hint: waysFromAnother(address, ref.id),
        exitCode: 6,
      });
    const key = `${ref.id} ${live.phase.detail}`;
    if (live.phase.isUnnamed !== true || warned.has(key)) return live;
    warned.add(key);
    const message = `${ref.id} shows the status ${live.phase.detail}`;
    emit({ type: "warning", ...(address === undefined ? {} : { address }), message });
    return live;
  };
  return { ...driver, get };
}
