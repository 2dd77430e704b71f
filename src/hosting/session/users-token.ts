/** @module Keeps the bearer token of the users host. */
import { GraphformError } from "../../model/errors.ts";
import { singleFlight } from "./single-flight.ts";
import { isHeaderText } from "./tokens.ts";

/** A token that the caller supplies: fetched once, and again after a refusal. */
export interface UsersToken {
  ready(): string | undefined;
  token(): Promise<string>;
  refuse(token: string): void;
}

/** Keeps the token of `fetch` until the users host refuses it. Rejects with `users-token` where it cannot be a token. */
export function createUsersToken(fetch: () => Promise<string>): UsersToken {
  let held: string | undefined;
  const checked = async (): Promise<string> => {
    const token = (await fetch()).trim();
    if (isHeaderText(token)) return token;
    throw new GraphformError(
      "users-token",
      "the token for the users host is empty, or has characters that a token cannot have",
      {
        hint: "check GRAPHFORM_TOKEN, or the output of GRAPHFORM_TOKEN_COMMAND",
      },
    );
  };
  const checkedOnce = singleFlight(checked);
  return {
    ready: () => held,
    async token() {
      if (held !== undefined) return held;
      held = await checkedOnce();
      return held;
    },
    refuse(token) {
      if (held === token) held = undefined;
    },
  };
}
