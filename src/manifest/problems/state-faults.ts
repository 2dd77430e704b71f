/** @module Finds what is wrong in a manifest's `state` section beyond its schema: contradictions, missing keys and credentials. */
import type { Json } from "../../model/json.ts";
import { isObject } from "../../model/json.ts";
import { isStoreType, type StoreType, storeKeys, stores, storeTypes } from "../../model/stores/index.ts";
import { holdsCredentials, namesCredential } from "../../model/userinfo.ts";
import { stateShape } from "../schema/state-shape.ts";
import type { Explained } from "./explain.ts";
import type { Fault } from "./fault.ts";
import { listed } from "./nearest.ts";
import { shownKey } from "./plain-fields.ts";

/** Keys that people write credentials under. */
const credentialKey =
  /^(?:user|username|pass|passwd|headers?|profile|conn_?str|connection_?string|url|dsn)$/i;

/** True for a key of the `state` section that only credentials have. */
export function holdsCredential(key: string): boolean {
  const isKnown = Object.hasOwn(stateShape.properties ?? {}, key);
  return !isKnown && (credentialKey.test(key) || namesCredential(key));
}

/** The faults of a section whose values are known. */
export function stateFaults(section: Json | undefined): readonly Explained[] {
  if (!isObject(section)) return [];
  const credentials = Object.entries(section).flatMap(([key, value]): readonly Explained[] => {
    const path = ["state", key];
    if (holdsCredential(key)) return [{ path, part: "key", fault: inManifest(`state.${shownKey(key)}`) }];
    if (typeof value !== "string") return [];
    if (holdsCredentials(value)) return [{ path, part: "value", fault: inManifest(`state.${key}`) }];
    const refusal = storeKeys()[key]?.refusal?.(value);
    return refusal === undefined ? [] : [{ path, part: "value", fault: refusal }];
  });
  const { type, backend } = section;
  if (type !== undefined && backend !== undefined && type !== backend)
    return [...credentials, { path: ["state", "backend"], part: "value", fault: contradiction }];
  const chosen = type ?? backend;
  if (chosen !== undefined && !isStoreType(chosen)) return credentials;
  const store = chosen ?? "file";
  const found = [...credentials, ...keyFaults(section, store, chosen !== undefined)];
  const against = stores[store].contradiction?.(section);
  if (against === undefined) return found;
  const { key, ...fault } = against;
  return [...found, { path: ["state", key], part: "value", fault }];
}

function keyFaults(
  section: { readonly [key: string]: Json },
  type: StoreType,
  isSaid: boolean,
): readonly Explained[] {
  const keys = Object.keys(stores[type].keys);
  const known = Object.keys(stateShape.properties ?? {});
  const misplaced = Object.keys(section).filter(
    (key) => known.includes(key) && key !== "type" && key !== "backend" && !keys.includes(key),
  );
  const missing = stores[type].required.filter((key) => !Object.hasOwn(section, key));
  return [
    ...misplaced.map((key): Explained => {
      const owner = storeTypes().find((other) => Object.hasOwn(stores[other].keys, key)) ?? "file";
      const message = `state.${key} belongs to a state of type ${owner}, and this one ${isSaid ? `is of type ${type}` : "is a file"}`;
      const hint = isSaid ? listed(keys, `keys of ${type}`) : `add type: ${owner}`;
      return { path: ["state", key], part: "key", fault: { code: "state-key", message, hint } };
    }),
    ...missing.map((key): Explained => {
      const description = stateShape.properties?.[key]?.description ?? key;
      const message = `"${key}" is missing in state: a state of type ${type} cannot be found without it`;
      const hint = `add it: ${description.replace(/^\w+: /, "")}`;
      return { path: ["state"], part: "key", fault: { code: "missing-key", message, hint } };
    }),
  ];
}

function inManifest(name: string): Fault {
  return {
    code: "state-credentials",
    message: `${name} holds credentials, and a manifest must not: it is kept in version control`,
    hint: "take them out, and set the variables of the environment that docs/stores.md lists",
  };
}

const contradiction: Fault = {
  code: "state-key",
  message: "state.backend and state.type differ, and they mean the same",
  hint: "keep type",
};
