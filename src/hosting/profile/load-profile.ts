/** @module Loads a profile by its name or path. */
import { resolve } from "node:path";
import type { Profile } from "../../model/service.ts";
import { builtIn } from "./built-in.generated.js";

export const builtInProfiles: readonly string[] = Object.keys(builtIn);

/** Takes the name of a built-in profile or the path of a file. Throws `profile-invalid` (exit 3) with the file's line. */
export async function loadProfile(nameOrPath: string): Promise<Profile> {
  const own = Object.hasOwn(builtIn, nameOrPath) ? builtIn[nameOrPath] : undefined;
  if (own !== undefined) return own();
  const [{ readProfile }, { validateProfile }] = await Promise.all([
    import("./profile-file.ts"),
    import("./profile-validator.generated.js"),
  ]);
  return readProfile(resolve(nameOrPath), validateProfile);
}
