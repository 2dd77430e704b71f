import type { ErroredState } from "../../src/state/errored-file.ts";
import { type Backend, memoryBackend } from "../state/stores/memory-driver.ts";
import type { StoreCase } from "./case.ts";
import type { Proc } from "./proc.ts";
import type { Schedule } from "./schedule.ts";

/** A store that several processes share: what is in it, who has its lock, and what a run could not put there. */
export interface Shared {
  readonly backend: Backend;
  readonly options: StoreCase;
  /** The process that has had the lock last, until it gives it back. */
  owner: Proc | undefined;
  /** Errored state that a run has left, and the run. */
  errored: { readonly by: Proc; readonly state: ErroredState } | undefined;
}

/** An empty one. */
export function sharedOf(options: StoreCase, { now }: Schedule): Shared {
  return { backend: memoryBackend(now), options, owner: undefined, errored: undefined };
}
