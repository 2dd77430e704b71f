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

/** Without a state, each stranger may be ours: its name tells, where the service shows it. */
export async function meet(
  strangers: readonly Known[],
  desired: readonly Desired[],
  context: ObserveContext,
): Promise<readonly Stranger[]> {
  const sought = new Set([...soughtByName(desired, context), ...soughtByMark(desired, context)]);
  const isMet = ({ kind }: Known): boolean => context.state.serial === 0 || sought.has(kind);
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

/** Kinds of which something is declared, bound to nothing, and known by its name: without data, it may be there already. */
function soughtByName(desired: readonly Desired[], context: ObserveContext): ReadonlySet<string> {
  const open = desired.filter(
    ({ address, importId }) => importId === undefined && context.state.resources[address] === undefined,
  );
  const named = open.filter((entry) => {
    const kind = kindOf(entry.kind, context);
    return !kind.holdsData && Object.values(kind.schema.properties).some((row) => row["x-identity"] === true);
  });
  return new Set(named.map(({ kind }) => kind));
}

/** Kinds of which something is declared and bound to nothing, and whose objects say whose they are. */
function soughtByMark(desired: readonly Desired[], context: ObserveContext): readonly string[] {
  const open = desired.filter(
    ({ address, importId }) => importId === undefined && context.state.resources[address] === undefined,
  );
  return open
    .map(({ kind }) => kind)
    .filter((kind) => kindOf(kind, context).marksOwner?.(context.profile) === true);
}
