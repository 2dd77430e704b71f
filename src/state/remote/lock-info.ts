/** @module Translates the holder of a lock to Terraform's LockInfo and back. */
import { defined, filledTextIn, isObject, objectIn } from "../../model/json.ts";
import { holderWith } from "../lock-words.ts";
import type { Holder } from "../store.ts";

/**
 * Terraform's record of a lock: these seven keys and no other. GitLab refuses a lock if one is missing. Other fields of the holder stand
 * as JSON in `Info`. `path` has no credential.
 */
export function lockInfoOf(holder: Holder, path: string): { readonly [key: string]: string } {
  const { id, operation, who, created, host, pid, expires } = holder;
  return {
    ID: id,
    Operation: operation,
    Info: JSON.stringify({ host, pid, expires }),
    Who: who,
    Version: "graphform",
    Created: created,
    Path: path,
  };
}

/** The holder in a LockInfo, with its heartbeat at its creation; undefined if it names no lock. Unknown keys are ignored. */
export function holderOf(info: unknown): Holder | undefined {
  if (!isObject(info)) return undefined;
  const [id, who] = [filledTextIn(info["ID"]), filledTextIn(info["Who"])];
  if (id === undefined) return undefined;
  const created = time(filledTextIn(info["Created"]));
  const more = objectIn(filledTextIn(info["Info"]) ?? "") ?? {};
  const pid = typeof more["pid"] === "number" ? more["pid"] : undefined;
  const host =
    filledTextIn(more["host"]) ?? (who?.includes("@") ? who.slice(who.lastIndexOf("@") + 1) : undefined);
  const expires = time(filledTextIn(more["expires"])) ?? created;
  const operation = filledTextIn(info["Operation"]);
  return holderWith(defined({ id, who, pid, host, operation, created, heartbeat: created, expires }));
}

/** A time as ISO 8601, from any spelling. */
function time(value: string | undefined): string | undefined {
  const at = Date.parse(value ?? "");
  return Number.isNaN(at) ? undefined : new Date(at).toISOString();
}
