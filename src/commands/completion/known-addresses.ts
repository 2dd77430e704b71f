/** @module Finds the addresses of a manifest and of its state without any network. */
import { kinds } from "../../kinds/index.ts";
import { isObject } from "../../model/json.ts";
import { checkedManifest } from "../../project/manifest-problems.ts";
import { openProject, type Project } from "../../project/project.ts";
import type { RunOptions } from "../../project/run-options.ts";

/** Options that name the manifest and the state. */
export type Place = Pick<RunOptions, "file" | "state" | "var" | "varFile">;

/** Addresses that are declared or recorded, sorted. A manifest with problems gives the names of its sections. No secret is read. */
export async function knownAddresses(place: Place): Promise<readonly string[]> {
  const project = await openProject(place);
  const declared = await checkedManifest(project).then(
    ({ desired }) => desired.map(({ address }) => address),
    () => namesIn(project),
  );
  const state = await project.store.read().catch(() => undefined);
  const recorded = Object.keys({ ...state?.resources, ...state?.intents });
  return [...new Set([...declared, ...recorded])].toSorted();
}

function namesIn({ parsed }: Project): readonly string[] {
  return kinds.all.flatMap(({ name: section }) => {
    const block = parsed.value?.[section];
    return isObject(block) ? Object.keys(block).map((name) => `${section}.${name}`) : [];
  });
}
