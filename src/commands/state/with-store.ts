/** @module Opens the store of a state for one command, with or without its lock. */
import { systemClock } from "../../model/clock.ts";
import type { StateDocument } from "../../model/state.ts";
import { whileHeld } from "../../project/open-run.ts";
import { openProject, type Project } from "../../project/project.ts";
import { escapeText } from "../../report/escape.ts";
import { amount } from "../../report/words.ts";
import type { ManifestOptions } from "../options.ts";
import { type Invocation, lockWarning } from "../with-run.ts";

/** An invocation of a command about the state. */
export type StateInvocation = Invocation<ManifestOptions & { readonly json?: boolean }>;

/** Opens the project of an invocation for `work`, and closes its store. */
export async function withStore<T>(
  { options, settings }: StateInvocation,
  work: (project: Project) => Promise<T>,
): Promise<T> {
  const project = await openProject(options, settings);
  try {
    return await work(project);
  } finally {
    await project.store.close();
  }
}

/** Like `withStore`, with the lock of the state. `operation` is its name in the lock. */
export function withLock<T>(
  invocation: StateInvocation,
  operation: string,
  work: (project: Project) => Promise<T>,
): Promise<T> {
  const { options, terminal } = invocation;
  return withStore(invocation, async (project) => {
    const timeout = options.lockTimeout ?? 0;
    const isPush = operation === "state push";
    const lock = { clock: systemClock, timeout, isPush, warn: lockWarning(terminal) };
    return whileHeld(await project.store.lock(operation, lock), () => work(project));
  });
}

/** The number of resources of a state: `3 resources`. */
export function resourcesOf({ resources }: StateDocument): string {
  return amount(Object.keys(resources).length, "resource");
}

/** The location of a store, escaped. */
export function shownPlace({ where }: Project["store"]): string {
  return escapeText(where, 300);
}
