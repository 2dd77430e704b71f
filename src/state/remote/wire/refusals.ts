/** @module Words the three ways in which a state store fails: unreachable, denied, unsuitable. */
import { GraphformError } from "../../../model/errors.ts";

/** No answer, or one that settles nothing: what was asked may have happened. `where` has no query and no credential. */
export function unreachable(where: string, why: string, hint?: string): GraphformError {
  return new GraphformError("state-unreachable", `the state store ${where} ${why}`, {
    hint:
      hint ?? "check the address, and whether the store runs; nothing is lost by running the command again",
  });
}

/** The credentials or their rights were refused; nothing happened. */
export function denied(where: string, why: string, hint: string): GraphformError {
  return new GraphformError("state-denied", `the state store ${where} ${why}`, { hint });
}

/** The store cannot keep a state safely, or it is none. */
export function unsuitable(where: string, why: string, hint?: string): GraphformError {
  return new GraphformError("state-unsuitable", `the state store ${where} ${why}`, {
    hint: hint ?? "check the address of the state, and what answers there",
  });
}
