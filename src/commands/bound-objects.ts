/** @module Finds the binding of an address, and its object at the service. */
import { unproven } from "../apply/engine/watch-missing.ts";
import { kinds } from "../kinds/index.ts";
import { nearest } from "../manifest/problems/fault.ts";
import { exitCodes, GraphformError } from "../model/errors.ts";
import { own } from "../model/json.ts";
import { type Live, remedyForAnother } from "../model/observed.ts";
import type { Service } from "../model/service.ts";
import type { Bound, StateDocument } from "../model/state.ts";
import { limitedClock } from "../model/time-limit.ts";
import { readBound } from "../observe/read-bound.ts";
import type { Run } from "../project/open-run.ts";

/** The binding of an address; with `kind` only one of that kind. Throws `not-bound` with the nearest address. */
export function boundAt(state: StateDocument, address: string, kind?: string): Bound {
  const all = Object.entries(state.resources);
  const known = new Map(kind === undefined ? all : all.filter(([, bound]) => bound.kind === kind));
  const found = known.get(address);
  if (found !== undefined) return found;
  const open = `${address} has no object yet: the create of an earlier run was not confirmed`;
  if (own(state.intents, address) !== undefined)
    throw new GraphformError("not-bound", open, { hint: "graphform apply looks for its object first" });
  const names = [...known.keys()];
  const close = nearest(address, names);
  const noun = kinds.find(kind ?? "")?.noun ?? "resource";
  const listed = `${names.slice(0, 5).join(", ")}${names.length > 5 ? ", ..." : ""}`;
  const none = "nothing was applied or imported yet";
  const rest = names.length === 0 ? none : `graphform state list shows what there is: ${listed}`;
  const hint = close === undefined ? rest : `did you mean ${close}?`;
  throw new GraphformError("not-bound", `the state of ${state.name} has no ${noun} at ${address}`, { hint });
}

/** The object bound to an address. Throws `gone`, `not-shown` in its creation grace period, `absence-unproven`, `another-object`. */
export async function liveAt(
  address: string,
  { state, service, signal, ...run }: Pick<Run, "state" | "signal" | "clock"> & { readonly service: Service },
): Promise<Live> {
  const bound = boundAt(state, address);
  const { kind, id, place } = bound;
  const entry = { address, kind, ref: { id, place } };
  const readers = new Map(kinds.all.map((each) => [each.name, each.reader(service)]));
  const clock = limitedClock(run.clock, service.patience);
  const context = { kinds, readers, state, clock, profile: service.profile, signal };
  const { lives, missing } = await readBound([entry], context);
  const live = lives.get(entry);
  if (live !== undefined) return live;
  const verdict = missing.get(entry) ?? { is: "gone" };
  switch (verdict.is) {
    case "in-doubt":
      throw unproven({ ...entry, mayBeHiddenSince: Date.parse(bound.createdAt) }, verdict.because);
    case "another":
      throw new GraphformError("another-object", verdict.because, {
        exitCode: exitCodes.stale,
        hint: remedyForAnother(address, id),
      });
    case "hidden":
      throw new GraphformError("not-shown", `the service does not show ${address} (${id}) yet`, {
        hint: "it was created moments ago: run the command again",
      });
    case "gone":
      throw new GraphformError("gone", `${address} (${id}) is gone: it was deleted outside graphform`, {
        hint: "graphform plan shows what to do about it",
      });
  }
}
