import type { Driver } from "../../model/kind.ts";
import type { Live, Ref } from "../../model/observed.ts";
import type { ApplyContext } from "../context.ts";

/**
 * A driver whose looks tell of a status that the profile does not name, once for each object and status of a run, as soon
 * as it is shown: whatever waits looks through it, and such a status may be one that never passes.
 */
export function withUnnamedStatusWarnings(
  driver: Driver,
  { emit, journal }: Pick<ApplyContext, "emit" | "journal">,
): Driver {
  const said = new Set<string>();
  const get = async (ref: Ref, signal: AbortSignal): Promise<Live | undefined> => {
    const live = await driver.get(ref, signal);
    const key = `${ref.id} ${live?.phase.detail}`;
    if (live?.phase.isUnnamed !== true || said.has(key)) return live;
    said.add(key);
    const address = Object.entries(journal.state.resources).find(([, { id }]) => id === ref.id)?.[0];
    const message = `${ref.id} shows the status ${live.phase.detail}`;
    emit({ type: "warning", ...(address === undefined ? {} : { address }), message });
    return live;
  };
  return { ...driver, get };
}
