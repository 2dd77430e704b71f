/** @module Finds the database of a request, and says why it could not be asked. */
import { isDatabaseError } from "../database/database-error.ts";
import type { DatabaseTarget } from "../database/target.ts";
import type { Json, JsonObject } from "../model/json.ts";
import type { ProbeAnswer } from "../model/probe.ts";
import type { Reads } from "../model/service.ts";

/** Longest time for one database, in ms. */
const patience = 3000;

/** A user name and a password of a spec. */
export interface Login {
  readonly username: Json | undefined;
  readonly password: Json | undefined;
}

/** The database at an instance's outputs; a text where it cannot be asked: the reason. */
export function targetOf(
  outputs: JsonObject,
  { username, password }: Login,
  isTls: boolean,
  { caFile }: Pick<Reads, "caFile">,
): DatabaseTarget | string {
  const { host, port } = outputs;
  if (typeof host !== "string" || typeof port !== "number") return "no endpoint";
  if (typeof password !== "string") return "no credentials";
  const tls = isTls ? (caFile === undefined ? true : { caFile }) : false;
  return {
    host,
    port,
    password,
    tls,
    timeout: patience,
    ...(typeof username === "string" ? { username } : {}),
  };
}

/** The answer of a database that could not be asked. `path`: the password that a wrong one disproves, where it is sure. */
export function unanswered(error: unknown, path: string | undefined): ProbeAnswer {
  if (!isDatabaseError(error)) return { is: "unanswered", reason: "not reachable from here" };
  if (error.failure === "unresolved")
    return { is: "unanswered", reason: "its name does not resolve from here" };
  if (error.failure !== "refused-credentials") return { is: "unanswered", reason: "not reachable from here" };
  const reason = "it refuses the declared login";
  return error.isWrongPassword && path !== undefined
    ? { is: "refused", path, reason }
    : { is: "unanswered", reason };
}
