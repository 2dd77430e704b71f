import type { Json } from "../model/json.ts";
import type { Phase } from "../model/observed.ts";
import type { Profile } from "../model/profile.ts";

/** The phase behind a status; one that nobody knows is on its way to something (wire facts: statuses). */
export function phaseOf(values: { readonly [name: string]: Json }, profile: Profile): Phase {
  const status = typeof values["status"] === "string" ? values["status"] : "";
  const is = profile.statuses[status.toUpperCase()] ?? "pending";
  const failure = is === "failed" && typeof values["failure"] === "string" ? `: ${values["failure"]}` : "";
  return { is, detail: `${status === "" ? "without a status" : status}${failure}` };
}
