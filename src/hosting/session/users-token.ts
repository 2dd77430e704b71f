import { GraphformError } from "../../model/errors.ts";
import { singleFlight } from "./single-flight.ts";
import { isHeaderText } from "./tokens.ts";

/** The bearer token of the users host where the caller has one of its own: fetched once, and again after a refusal. */
export interface UsersToken {
  ready(): string | undefined;
  token(): Promise<string>;
  refuse(token: string): void;
}

/** Keeps what `fetch` gives until the users host refuses it. Rejects with `users-token` where it is no token. */
export function createUsersToken(fetch: () => Promise<string>): UsersToken {
  let held: string | undefined;
  const checked = async (): Promise<string> => {
    const token = (await fetch()).trim();
    if (isHeaderText(token)) return token;
    throw new GraphformError(
      "users-token",
      "the token for the users host is empty or holds characters that no token has",
      {
        hint: "check GRAPHFORM_TOKEN, or what GRAPHFORM_TOKEN_COMMAND prints",
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
