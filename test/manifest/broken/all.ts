import { acrossBroken } from "./across.ts";
import { frameBroken } from "./frame.ts";
import { referencesBroken } from "./references.ts";
import { resourcesBroken } from "./resources.ts";
import type { Broken } from "./row.ts";
import { yamlBroken } from "./yaml.ts";

/** Every broken manifest. */
export const brokenManifests: readonly Broken[] = [
  ...yamlBroken,
  ...frameBroken,
  ...resourcesBroken,
  ...referencesBroken,
  ...acrossBroken,
];
