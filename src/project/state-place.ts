/** @module Finds the path of a manifest's state. */
import { isAbsolute, join } from "node:path";

/** Path of a state; `elsewhere` is where it would be, had the command run in another folder. */
export interface StatePlace {
  readonly path: string;
  readonly elsewhere?: string;
}

/**
 * Path of the state: that of --state (`given`), or `state.path` (`declared`), which is relative to the current folder like every path in a
 * manifest; otherwise a file beside the manifest, in `folder`. `elsewhere` is the same path in the other of the two folders.
 */
export function statePlace(
  name: string,
  folder: string,
  given: string | undefined,
  declared: unknown,
): StatePlace {
  if (given !== undefined) return { path: given };
  if (typeof declared === "string")
    return isAbsolute(declared) ? { path: declared } : { path: declared, elsewhere: join(folder, declared) };
  const usual = join(".graphform", `${name}.state.json`);
  return { path: join(folder, usual), elsewhere: usual };
}
