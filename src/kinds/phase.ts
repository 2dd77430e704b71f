/** @module Translates a service's status into a phase. */
import { safeText } from "../hosting/wire/parse-json.ts";
import { type Json, own } from "../model/json.ts";
import type { Phase } from "../model/observed.ts";
import type { Reads } from "../model/service.ts";

/**
 * The phase behind a status; one that nobody knows is on its way to something, and is said to be unknown. Of an account the
 * profile may have other meanings.
 */
export function phaseOf(
  values: { readonly [name: string]: Json },
  { profile, hide }: Pick<Reads, "profile" | "hide">,
  of: "account" | "instance" = "instance",
): Phase {
  const status = typeof values["status"] === "string" ? values["status"] : "";
  if (status === "") return { is: "pending", detail: "without a status" };
  const special = of === "account" ? profile.accounts?.statuses : undefined;
  const is = own(special ?? {}, status.toUpperCase()) ?? own(profile.statuses, status.toUpperCase());
  if (is === undefined)
    return { is: "pending", detail: unknown(safeText(status, hide), profile.name), isUnnamed: true };
  if (is === "deleting") return { is: "pending", detail: status, isLeaving: true };
  const failure = is === "failed" && typeof values["failure"] === "string" ? `: ${values["failure"]}` : "";
  return { is, detail: `${status}${failure}` };
}

/** The status as an output: one that the profile does not name is a word of the service like any other. */
export function shownStatus(
  values: { readonly [name: string]: Json },
  service: Pick<Reads, "profile" | "hide">,
  of?: "account" | "instance",
): Json | undefined {
  const { status } = values;
  const isWord = typeof status === "string" && phaseOf(values, service, of).isUnnamed === true;
  return isWord ? service.hide(status) : status;
}

/** The status, with the line that would make it known. */
function unknown(status: string, profile: string): string {
  const word = status.slice(0, 60);
  return `${word}, which the profile ${profile} does not name; once it is known, add under statuses: { ${word}: ready | stopped | pending | failed }`;
}
