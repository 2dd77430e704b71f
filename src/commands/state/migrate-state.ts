/** @module Moves the state of a manifest to another store. */
import { resolve } from "node:path";
import { systemClock } from "../../model/clock.ts";
import { exitCodes, GraphformError, isGraphformError } from "../../model/errors.ts";
import { isStoreType, type StateLocation, stores } from "../../model/stores/index.ts";
import type { StoreValues } from "../../model/stores/store-description.ts";
import {
  addressOf,
  declaredLocation,
  fileLocation,
  namedLocation,
  sectionOf,
} from "../../project/locate-state.ts";
import { whileHeld } from "../../project/open-run.ts";
import { openStore } from "../../project/open-store.ts";
import { openProject, type Project } from "../../project/project.ts";
import type { Settings } from "../../project/settings.ts";
import { jsonText } from "../../report/typeset.ts";
import { interruptedMove, type Move, type MoveEnd, moveState } from "../../state/move-state.ts";
import type { LockOptions } from "../../state/store.ts";
import { listenForInterrupts } from "../terminal/listen-for-interrupts.ts";
import { type InvocationWith, lockWarning } from "../with-run.ts";
import { redactedPlace, resourcesOf } from "./show-state.ts";

/** `state migrate --to PLACE`: moves the state under both locks, and prints what the manifest has to say from now on. */
export async function stateMigrate(invocation: InvocationWith<{ readonly to: string }>): Promise<number> {
  const { options, settings, terminal } = invocation;
  const project = await openProject(options, settings);
  const { header, folder } = project;
  const location = locationOf(options.to, project);
  if (fullAddress(location) === fullAddress(project.location)) throw isThere(project.store.where);
  const fresh = openStore(location, settings, {
    header,
    folder,
    isOtherEnd: hasOwnCredentials(project.location, location, settings),
  });
  const interrupts = listenForInterrupts(() => {
    terminal.err("\ninterrupted: no further write of an undecided move; Ctrl-C again stops at once\n");
    // A process that ends at any moment leaves one place complete: from here on a signal ends this one.
    interrupts.release();
  });
  const { stopping } = interrupts;
  try {
    await fresh.prepare();
    const { state, isResumed } = await moveUnderLocks(project, fresh, location, stopping, {
      clock: systemClock,
      timeout: options.lockTimeout ?? 0,
      warn: lockWarning(terminal),
    });
    const section = sectionOf(location);
    const { serial } = state;
    if (options.json === true) {
      const [from, to, resources] = [project.store.where, fresh.where, Object.keys(state.resources).length];
      terminal.out(`${jsonText({ from, to, serial, resources, isResumed, section })}\n`);
    } else {
      const [from, to] = [project.store, fresh].map(redactedPlace);
      terminal.out(`The state is at ${to} now: version ${serial}, ${resourcesOf(state)}.\n`);
      terminal.out(`${from} refuses every run from here on. Write in the manifest:\n\n${section}`);
    }
    return exitCodes.done;
  } catch (error) {
    throw stopping.aborted && !isGraphformError(error) ? interruptedMove() : error;
  } finally {
    interrupts.release();
    await Promise.all([project.store.close(), fresh.close()]);
  }
}

async function moveUnderLocks(
  { store, location, header, identity }: Project,
  fresh: Project["store"],
  to: StateLocation,
  stopping: AbortSignal,
  options: LockOptions,
): Promise<Move> {
  const operation = "state migrate";
  const waiting = { ...options, signal: stopping };
  const oldLock = await store.lock(operation, waiting);
  return whileHeld(oldLock, async () => {
    // Both addresses name one place, whose lock we hold already.
    if ((await fresh.holder())?.id === oldLock.id) throw isThere(store.where);
    const freshLock = await fresh.lock(operation, waiting);
    return whileHeld(freshLock, () => {
      const old: MoveEnd = { store, address: fullAddress(location), lock: oldLock };
      const next: MoveEnd = { store: fresh, address: fullAddress(to), lock: freshLock };
      return moveState(old, next, { name: header.name, manifest: identity, clock: options.clock, stopping });
    });
  });
}

function isThere(where: string): GraphformError {
  return new GraphformError("state-same", `the state is at ${where} already`, {
    hint: "name another location with --to, or the old one with --state",
  });
}

/** The location that --to names. If it is the type of a store, the location is the manifest's, or the default of that store. */
function locationOf(to: string, { header, folder }: Project): StateLocation {
  if (!isStoreType(to)) return namedLocation(to, header);
  if (to === "file") return fileLocation(header, folder);
  const location = declaredLocation(header, to);
  const { required, spelling } = stores[to];
  const values: StoreValues = { ...location };
  if (required.every((key) => values[key] !== "")) return location;
  throw new GraphformError("state-address", `--to ${to} does not say where`, {
    hint: `name it like --to ${spelling}`,
  });
}

/** The address that leads there from any folder. */
function fullAddress(location: StateLocation): string {
  return location.type === "file" ? resolve(location.path) : addressOf(location);
}

/** True if the new end has credentials of its own, GRAPHFORM_STATE_TO_*, or is another HTTP host, to which those of the old end never go. */
function hasOwnCredentials(from: StateLocation, to: StateLocation, settings: Settings): boolean {
  const variables = Object.entries(stores[to.type].variables);
  if (variables.some(([name, { isOtherEnd }]) => isOtherEnd && settings.variable(name))) return true;
  const [old, fresh] = [from, to].map((location) => stores[location.type].credentialHost?.(location));
  return old !== undefined && fresh !== undefined && old !== fresh;
}
