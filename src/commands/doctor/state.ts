/** @module Checks the store of the state for `doctor`: what is there, its lock, its credentials, and its clock. */
import { systemClock } from "../../model/clock.ts";
import { GraphformError, isGraphformError } from "../../model/errors.ts";
import { type StateLocation, stores } from "../../model/stores/index.ts";
import { openProject, type Project } from "../../project/project.ts";
import type { Settings } from "../../project/settings.ts";
import { amount } from "../../report/words.ts";
import { assertSameManifest } from "../../state/claim-state.ts";
import { holderSince, holderWork } from "../../state/lock-words.ts";
import type { ManifestOptions } from "../options.ts";
import { check, clockFinding, type Finding } from "./clock.ts";

/** Checks the state and its store. Leaves nothing there: the lock is taken and given back. */
export async function stateFindings(
  options: ManifestOptions,
  settings: Settings,
): Promise<readonly Finding[]> {
  let project: Project | undefined;
  let isReached = true;
  const state = await check("state", settings.secrets.hide, async () => {
    project = await openProject(options, settings);
    return stateDetail(project).catch((error: unknown) => {
      isReached = !isGraphformError(error) || !noAnswer.includes(error.code);
      throw error;
    });
  });
  if (project === undefined) return [state];
  const { location, store } = project;
  const { source, clock: clockOf } = stores[location.type];
  try {
    const credentials =
      location.type === "file"
        ? []
        : [
            await check("state credentials", settings.secrets.hide, async () =>
              source(location, settings.variable),
            ),
          ];
    if (!isReached) return [state, ...credentials];
    const lock = await check("state store", settings.secrets.hide, () => storeDetail(store, location));
    const url = clockOf(location, settings.variable);
    const clock = url === undefined ? [] : await clockFinding("state clock", url, settings.get("caFile"));
    return [state, ...credentials, lock, ...clock];
  } finally {
    await store.close();
  }
}

async function stateDetail({ store, identity }: Project): Promise<string> {
  const [found, holder] = [await store.read(), await store.holder()];
  if (found !== undefined) assertSameManifest(found, identity, store.where);
  const lock =
    holder === undefined
      ? "not locked"
      : `locked by ${holder.who}${holderWork(holder)}${holderSince(holder)}`;
  return found === undefined
    ? `nothing at ${store.where} yet, ${lock}`
    : `${store.where}, ${amount(Object.keys(found.resources).length, "resource")}, ${lock}`;
}

/** Tries the store, and its lock where nobody holds it. */
async function storeDetail(store: Project["store"], location: StateLocation): Promise<string> {
  await store.probe();
  const { refusesStaleWrites } = stores[location.type];
  const isUnproven = !refusesStaleWrites && (await store.readText()) === undefined;
  const proof = isUnproven ? "; nothing was written yet: the first run reads back what it writes" : "";
  const rule = `${refusesStaleWrites ? "refuses stale writes" : "the protocol compares nothing"}${proof}`;
  // The lock of a file would make its folder.
  if (location.type === "file" && (await store.readText()) === undefined) return "can be written to";
  try {
    const left: string[] = [];
    const lock = await store.lock("doctor", { clock: systemClock, warn: (message) => left.push(message) });
    await lock.release();
    if (left[0] !== undefined) throw new GraphformError("state-unreachable", left[0]);
    return `${rule}; the lock was taken and given back`;
  } catch (error) {
    if (!isGraphformError(error) || error.code !== "locked") throw error;
    return `${rule}; the lock is held, and was not tried`;
  }
}

/** Errors after which nothing else need be tried. */
const noAnswer: readonly string[] = ["state-unreachable", "state-denied", "state-credentials"];
