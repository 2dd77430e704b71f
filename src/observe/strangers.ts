import type { Desired } from "../model/desired.ts";
import type { JsonObject } from "../model/json.ts";
import type { Live } from "../model/observed.ts";
import { type Known, kindOf, type ObserveContext, readerOf } from "./context.ts";

/**
 * An object that no address is bound to; looked at only while there is no state, when it may be ours all the same, and
 * where something of its kind that is known by its name is declared and not bound yet.
 */
export interface Stranger {
  readonly kind: string;
  readonly id: string;
  readonly place: JsonObject;
  /** What it shows, where it was looked at. */
  readonly live?: Live;
}

/**
 * Without a state, a stranger may be what is declared of its kind and bound to nothing: its name tells, where the service shows
 * it. Where everything of a kind is bound, nobody needs to know.
 */
export async function meet(
  strangers: readonly Known[],
  desired: readonly Desired[],
  context: ObserveContext,
): Promise<readonly Stranger[]> {
  const sought = soughtKinds(desired, context);
  const isMet = ({ kind }: Known): boolean => sought.has(kind);
  const lives = await Promise.all(
    strangers.map((entry) =>
      isMet(entry) ? readerOf(entry.kind, context).get(entry.ref, context.signal) : undefined,
    ),
  );
  return strangers.map(({ kind, ref }, at) => {
    const live = lives[at];
    return { kind, ...ref, ...(live === undefined ? {} : { live }) };
  });
}

/**
 * Kinds of which something is declared and bound to nothing, and may be there already: what holds no data is known by its
 * name, and what carries a mark says whose it is. Without a state each of them may be.
 */
function soughtKinds(desired: readonly Desired[], context: ObserveContext): ReadonlySet<string> {
  const open = desired.filter(
    ({ address, importId }) => importId === undefined && context.state.resources[address] === undefined,
  );
  const wanted = [...new Set(open.map(({ kind }) => kind))].filter((name) => {
    if (context.state.serial === 0) return true;
    const { holdsData, schema, marksOwner } = kindOf(name, context);
    const isNamed = !holdsData && Object.values(schema.properties).some((row) => row["x-identity"] === true);
    return isNamed || marksOwner?.(context.profile) === true;
  });
  return new Set(wanted);
}
