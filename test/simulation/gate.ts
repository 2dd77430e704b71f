import type { WireResponse } from "../../src/hosting/wire/transport.ts";
import type { Chance } from "../support/chance.ts";
import type { WireCase } from "./case.ts";
import type { Life } from "./schedule.ts";

/** The door of the service: who has signed in, and how many requests it takes. */
export interface Gate {
  readonly options: WireCase;
  /** The answer to somebody who signs in, whose password is right. */
  signIn(): WireResponse;
  /** The answer to a refresh token; it works once. */
  refresh(token: string): WireResponse;
  /** What turns a request away; undefined where it may enter. It is over when its sender leaves or dies. */
  enter(token: string, sender: Life): WireResponse | undefined;
  leave(sender: Life): void;
}

/** A door where nobody has signed in yet. */
export function gate(options: WireCase, now: () => number, dice: Chance): Gate {
  const validUntil = new Map<string, number>();
  const refreshable = new Map<string, number>();
  let inside: readonly Life[] = [];
  let since = 0;
  let count = 0;
  let issued = 0;

  /** Tokens may die sooner than their cookies say. */
  const tokens = (): WireResponse => {
    issued += 1;
    const life = options.tokenLife * (dice.is(0.2) ? 0.3 + 0.7 * dice.next() : 1);
    validUntil.set(`token-${issued}`, now() + life);
    refreshable.set(`refresh-${issued}`, now() + options.refreshLife);
    const cookie = (name: string, life: number): string =>
      `${name}-${issued}; Max-Age=${Math.ceil(life / 1000)}; Path=/; HttpOnly; Secure`;
    return {
      status: 200,
      headers: {
        "set-cookie": [
          `svc_token=${cookie("token", options.tokenLife)}`,
          `svc_refresh_token=${cookie("refresh", options.refreshLife)}`,
        ],
      },
      body: "{}",
    };
  };
  const isTooMuch = (): boolean => {
    const window = Math.floor(now() / 1000);
    if (window !== since) [since, count] = [window, 0];
    count += 1;
    inside = inside.filter((sender) => !sender.dead);
    return count > options.perSecond || inside.length >= options.atOnce;
  };
  return {
    options,
    signIn: tokens,
    refresh(token) {
      const until = refreshable.get(token) ?? 0;
      refreshable.delete(token);
      return now() < until ? tokens() : refusal(401, "the refresh token is of no use");
    },
    enter(token, sender) {
      if (isTooMuch()) {
        const seconds = options.retryAfter === 0 ? {} : { "retry-after": String(options.retryAfter) };
        return { ...refusal(429, "too many requests"), headers: seconds };
      }
      if (now() >= (validUntil.get(token) ?? 0)) return refusal(401, "the token has expired");
      inside = [...inside, sender];
      return undefined;
    },
    leave(sender) {
      inside = inside.toSpliced(inside.indexOf(sender), 1);
    },
  };
}

/** An error in the shape of the specification (section 7). */
export function refusal(status: number, message: string): WireResponse {
  return { status, headers: {}, body: JSON.stringify({ name: "refused", message }) };
}
