/** @module Finds the addresses of a manifest that only its resolution knows, and of a state that must be opened. */

import type { RunOptions } from "../../project/project.ts";
import { checkedManifest, openProject } from "../../project/project.ts";
import type { Settings } from "../../project/settings.ts";

/** Options that name the manifest and the state. */
export type Place = Pick<RunOptions, "file" | "state" | "var" | "varFile">;

/** Addresses of the resolved manifest, or `names` where it has problems; then those of its state. No secret is read. */
export async function resolvedAddresses(
  place: Place,
  names: readonly string[],
  settings: Settings,
): Promise<readonly string[]> {
  const project = await openProject(place, settings).catch(() => undefined);
  if (project === undefined) return names;
  const declared = await checkedManifest(project).then(
    ({ desired }) => desired.map(({ address }) => address),
    () => names,
  );
  const isHere = project.location.type === "file";
  const state = isHere ? await project.store.read().catch(() => undefined) : undefined;
  return [...declared, ...Object.keys({ ...state?.resources, ...state?.intents })];
}
