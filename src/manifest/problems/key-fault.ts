/** @module Makes the faults of missing, unknown and malformed keys. */

import { leafPaths, type Shape } from "../schema/shape.ts";
import type { Path } from "../source.ts";
import { dotted } from "./describe.ts";
import type { Fault } from "./finding.ts";
import { nearest, suggest } from "./nearest.ts";
import { shownKey } from "./plain-fields.ts";

/** The fault of a required key that is missing. */
export function missingKey(path: Path, key: string, shape: Shape): Fault {
  const message = `${JSON.stringify(key)} is missing${within(path)}`;
  return { code: "missing-key", message, hint: `add it: ${shape.properties?.[key]?.description ?? key}` };
}

/** The fault of a key that its map does not have; the hint names the likely one. */
export function unknownKey(path: Path, key: string, shape: Shape, root: Shape): Fault {
  const message = `unknown key ${JSON.stringify(shownKey(key))}${within(path)}`;
  return { code: "unknown-key", message, hint: keyHint(key, shape, root) };
}

/** The fault of a name that cannot be part of an address. */
export function badName(name: string): Fault {
  const message = `${JSON.stringify(shownKey(name))} cannot be used as a name`;
  return { code: "bad-name", message, hint: "use letters, digits, - and _, beginning with a letter" };
}

/** The key that an unknown one probably stands for: by the service's spelling, or by a typing mistake. */
export function meantKey(key: string, shape: Shape): string | undefined {
  return wiredAs(key, shape) ?? nearest(key, Object.keys(shape.properties ?? {}));
}

function within(path: Path): string {
  return path.length === 0 ? "" : ` in ${dotted(path)}`;
}

function wiredAs(word: string, { properties = {} }: Shape): string | undefined {
  return Object.keys(properties).find((name) => properties[name]?.["x-wire"] === word);
}

/** The hint for an unknown key: the right spelling, or the place where it belongs. */
function keyHint(key: string, shape: Shape, root: Shape): string {
  const wired = wiredAs(key, shape);
  if (wired !== undefined) return `write ${wired}: ${key} is the service's own word for it`;
  const elsewhere = [...leafPaths(root).keys()].find((path) => path === key || path.endsWith(`.${key}`));
  if (elsewhere === undefined) return suggest(key, Object.keys(shape.properties ?? {}), "known keys");
  const parent = elsewhere.slice(0, -key.length - 1);
  return parent === "" ? "move it out: it belongs directly to the resource" : `move it under ${parent}`;
}
