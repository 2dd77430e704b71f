/** @module Finds the database of a request, and says why it could not be asked. */

import { type DatabaseTarget, isDatabaseError } from "../database/failures.ts";
import type { Json, JsonObject } from "../model/json.ts";
import type { ProbeAnswer } from "../model/probe-reading.ts";
import { type ProbeTrouble, refusedAt, unanswered } from "../model/probe-troubles.ts";
import type { Reads } from "../model/service.ts";
import type { Spec } from "../model/spec.ts";

/** Longest time for one database, in ms. */
const longest = 3000;

export interface Login {
  readonly username: Json | undefined;
  readonly password: Json | undefined;
}

/** The database at an instance's outputs; the cause if it cannot be asked. */
export function targetOf(
  outputs: JsonObject,
  { username, password }: Login,
  isTls: boolean,
  { caFile, patience = longest, hide }: Pick<Reads, "caFile" | "patience" | "hide">,
): DatabaseTarget | ProbeTrouble {
  const { host, port } = outputs;
  if (typeof host !== "string" || typeof port !== "number") return "no-endpoint";
  if (typeof password !== "string") return "no-password";
  const tls = isTls ? (caFile === undefined ? true : { caFile }) : false;
  return {
    host,
    port,
    password,
    tls,
    timeout: Math.min(patience, longest),
    hide,
    ...(typeof username === "string" ? { username } : {}),
  };
}

/** True for an instance whose network is not open to everybody: if it does not answer, that is no wonder. */
export function isPrivate(spec: Spec): boolean {
  return spec["networkType"] === "INTERNAL" || (spec["network"] ?? null) !== null;
}

/**
 * The answer of a database that could not be asked. `path`: the password that a wrong one disproves, if it is sure.
 * `instance`: values of the instance that it belongs to.
 */
export function answerTo(error: unknown, instance: Spec, path: string | undefined): ProbeAnswer {
  if (!isDatabaseError(error)) return unanswered("cut");
  const { failure, obstacle } = error;
  if (failure === "refused-credentials")
    return error.isWrongPassword && path !== undefined ? refusedAt(path) : unanswered("login-refused");
  if (failure === "no-tls") return unanswered("no-tls");
  const isOutside = failure === "unresolved" || obstacle === "refused" || obstacle === "silent";
  if (isOutside && isPrivate(instance)) return unanswered("private");
  return unanswered(failure === "unresolved" ? "unresolved" : obstacle);
}
