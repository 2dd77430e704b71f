/** @module Proves the login of a database user. */
import type { ProbeAnswer, ProbeRequest } from "../model/probe.ts";
import { notAsked } from "../model/probe-troubles.ts";
import type { Reads } from "../model/service.ts";
import { answerTo, targetOf } from "./database-target.ts";

/**
 * Signs in once as the declared user. No command follows: a refused one would stand in the database's ACL LOG, and the users
 * host shows the access list.
 */
export async function probeUser(
  { spec, referents }: ProbeRequest,
  service: Reads,
  signal: AbortSignal,
): Promise<ProbeAnswer> {
  const instance = referents["instance"];
  const { username, password } = spec;
  const isTls = instance?.spec["config.enableTLS"] === true;
  const target = targetOf(instance?.outputs ?? {}, { username, password }, isTls, service);
  if (typeof target === "string") return notAsked(target);
  const { signIn } = await import("../database/probe.ts");
  try {
    await signIn(target, signal);
    return { is: "answered", values: { password: true } };
  } catch (error) {
    if (signal.aborted) throw error;
    return answerTo(error, instance?.spec ?? {}, "password");
  }
}
