/** @module Finds the addresses and methods of Terraform's protocol in one of its three dialects. */
import type { HttpDialect } from "../../../model/store-choices.ts";
import { dialectOf } from "../../../model/store-url.ts";
import { unsuitable } from "../wire/refusals.ts";
import { checkedUrl } from "../wire/send.ts";

/** Options of a state behind Terraform's protocol. Those that are missing follow from the dialect. */
export interface HttpStoreConfig {
  readonly address: string;
  /** Without it the address tells: GitLab's and Gitea's have a path of their own. */
  readonly dialect?: HttpDialect;
  readonly lockAddress?: string;
  readonly unlockAddress?: string;
  readonly updateMethod?: string;
  readonly lockMethod?: string;
  readonly unlockMethod?: string;
  /** Longest time for one request, in ms. Default 30 s. */
  readonly timeout?: number;
  /** PEM text of authorities to trust besides the system's. */
  readonly ca?: string;
}

/** Addresses of the requests, and their methods. */
export interface HttpAddresses {
  readonly dialect: HttpDialect;
  readonly state: URL;
  readonly lock: URL;
  readonly unlock: URL;
  readonly updateMethod: string;
  readonly lockMethod: string;
  readonly unlockMethod: string;
  /** For people: the address without its query, which may have a token. */
  readonly where: string;
}

/** Throws `url-*` for an address that must not be used, and `state-unsuitable` where there is no address for the lock. */
export function httpAddresses(config: HttpStoreConfig): HttpAddresses {
  const state = checkedUrl(config.address, "address");
  const where = `${state.origin}${state.pathname}`;
  const dialect = config.dialect ?? dialectOf(state);
  const known = dialect === "plain" ? undefined : below(state, "lock");
  const lock = config.lockAddress === undefined ? known : checkedUrl(config.lockAddress, "lockAddress");
  if (lock === undefined) {
    throw unsuitable(
      where,
      "has no address for its lock, and two runs at once would make databases twice",
      "give lockAddress, which may be the address itself; GitLab and Gitea need none (dialect: gitlab or gitea)",
    );
  }
  const methods = { plain: ["LOCK", "UNLOCK"], gitlab: ["POST", "DELETE"], gitea: ["POST", "DELETE"] };
  const [lockMethod = "LOCK", unlockMethod = "UNLOCK"] = methods[dialect];
  return {
    dialect,
    state,
    lock,
    unlock: config.unlockAddress === undefined ? lock : checkedUrl(config.unlockAddress, "unlockAddress"),
    updateMethod: method(config.updateMethod ?? "POST", where),
    lockMethod: method(config.lockMethod ?? lockMethod, where),
    unlockMethod: method(config.unlockMethod ?? unlockMethod, where),
    where,
  };
}

/** A copy of an address with the ID of a lock in its query. */
export function withId(address: URL, id: string): URL {
  const url = new URL(address);
  url.searchParams.set("ID", id);
  return url;
}

function below(address: URL, name: string): URL {
  const url = new URL(address);
  url.pathname = `${url.pathname.replace(/\/$/, "")}/${name}`;
  return url;
}

function method(text: string, where: string): string {
  if (/^[A-Z]{1,20}$/.test(text)) return text;
  throw unsuitable(
    where,
    "has a method in its options that is none",
    "write methods in capitals, as POST or LOCK",
  );
}
