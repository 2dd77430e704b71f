/** @module Describes the store of a state behind Terraform's HTTP protocol, and finds the credentials for it. */
import { GraphformError } from "../errors.ts";
import { defined, textIn } from "../json.ts";
import { isLoopback } from "../service.ts";
import { holdsCredentials } from "../userinfo.ts";
import {
  type GetVariable,
  type StoreDescription,
  type StoreKey,
  textKey,
  type ValueRefusal,
  wordOf,
} from "./store-description.ts";

/** Terraform's own protocol, GitLab's, and Gitea's (1.26 and later). */
const httpDialects = ["plain", "gitlab", "gitea"] as const;

export type HttpDialect = (typeof httpDialects)[number];

/** An address that speaks Terraform's HTTP protocol, or a dialect of it. Fields that are missing follow from the dialect. */
export interface HttpLocation {
  readonly type: "http";
  readonly address: string;
  readonly lockAddress?: string;
  readonly unlockAddress?: string;
  readonly lockMethod?: string;
  readonly unlockMethod?: string;
  readonly updateMethod?: string;
  /** Without it the address tells: GitLab's and Gitea's have a path of their own. */
  readonly dialect?: HttpDialect;
}

/**
 * Refuses anything but an http or https URL without user, password and fragment, and http to another machine: the state would go over
 * the connection in clear, and the key of its secrets with it. `setting` is named in messages.
 */
export function urlRefusal(text: string, setting: string): ValueRefusal | undefined {
  const url = URL.parse(text);
  const more = (hint: string): ValueRefusal => ({
    code: "url-invalid",
    message: `the ${setting} of the state contains more than an address`,
    hint,
  });
  if (text.includes("@") || holdsCredentials(text))
    return more(
      "leave user and password out: credentials come from the environment; write an @ of a path as %40",
    );
  if (url === null || !/^https?:\/\/[^/]/i.test(text))
    return {
      code: "url-invalid",
      message: `the ${setting} of the state is not an http or https URL`,
      hint: "write it like https://git.example.com/api/v4/projects/42/terraform/state/orders",
    };
  if (url.username !== "" || url.password !== "" || url.hash !== "" || text.includes("#"))
    return more("leave user, password and fragment out; credentials come from the environment");
  if (url.protocol === "http:" && !isLoopback(url.hostname) && !url.hostname.endsWith(".localhost"))
    return {
      code: "url-in-clear",
      message: `${url.origin} would get the state and its credentials in clear`,
      hint: `use https://${url.host}`,
    };
  return undefined;
}

const gitlabPath = /\/api\/v4\/projects\/[^/]+\/terraform\/state\/[^/]+$/;
const giteaPath = /\/api\/packages\/[^/]+\/terraform\/state\/[^/]+$/;

/** The dialect that the path of an address tells. */
export function dialectOf({ pathname }: Pick<URL, "pathname">): HttpDialect {
  if (gitlabPath.test(pathname)) return "gitlab";
  return giteaPath.test(pathname) ? "gitea" : "plain";
}

/** The row of a key with an http or https address. */
export function addressKey(key: string, description: string, example: string): StoreKey {
  const pattern = "^https?://[^\\s/][^\\s]*$";
  return textKey(description, { pattern, examples: [example], refusal: (value) => urlRefusal(value, key) });
}

const methods = (...words: readonly string[]): StoreKey => ({ enum: [...words, "POST", "PUT"] });

const variables: StoreDescription<HttpLocation>["variables"] = {
  GRAPHFORM_STATE_USERNAME: { about: "User name for a state behind HTTP." },
  GRAPHFORM_STATE_PASSWORD: { about: "Password for it.", isSecret: true },
  GRAPHFORM_STATE_TOKEN: {
    about: "Bearer token for it, in place of user name and password.",
    isSecret: true,
  },
  GRAPHFORM_STATE_TO_USERNAME: {
    about: "User name for the other end of a move, if that is another HTTP host.",
    isOtherEnd: true,
  },
  GRAPHFORM_STATE_TO_PASSWORD: { about: "Password for it.", isSecret: true, isOtherEnd: true },
  GRAPHFORM_STATE_TO_TOKEN: { about: "Bearer token for it.", isSecret: true, isOtherEnd: true },
};

export const http: StoreDescription<HttpLocation> = {
  place: "an HTTP address",
  keys: {
    address: addressKey(
      "address",
      "http: address of the state, without user and password.",
      "https://gitlab.example.com/api/v4/projects/7/terraform/state/shop",
    ),
    lockAddress: addressKey(
      "lockAddress",
      "http: address of its lock. Left out: as the dialect has it.",
      "https://states.example.com/shop/lock",
    ),
    unlockAddress: addressKey(
      "unlockAddress",
      "http: address to unlock at.",
      "https://states.example.com/shop/lock",
    ),
    lockMethod: textKey("http: method that locks.", methods("LOCK")),
    unlockMethod: textKey("http: method that unlocks.", methods("UNLOCK", "DELETE")),
    updateMethod: textKey("http: method that stores.", { enum: ["POST", "PUT"] }),
    dialect: textKey("http: dialect of the protocol. Left out: taken from the address, or plain.", {
      enum: httpDialects,
    }),
  },
  required: ["address"],
  variables,
  schemes: ["http", "https"],
  spelling: "https://HOST/PATH",
  refusesStaleWrites: false,
  locksExpire: false,
  readAddress: (_, address) => ({ address }),
  locate(values) {
    const texts = ["lockAddress", "unlockAddress", "lockMethod", "unlockMethod", "updateMethod"] as const;
    return {
      type: "http",
      address: textIn(values["address"]) ?? "",
      ...defined(Object.fromEntries(texts.map((key) => [key, textIn(values[key])]))),
      ...defined({ dialect: wordOf(values, "dialect", httpDialects) }),
    };
  },
  address: ({ address }) => address,
  canonical: ({ type, address }) => ({ type, address: URL.parse(address)?.href ?? address }),
  source: (location, variable) => httpCredentials(location, variable).source,
  clock: ({ address }) => address,
  credentialHost: ({ address }) => URL.parse(address)?.origin,
  contradiction({ address, lockAddress, dialect }) {
    const url = typeof address === "string" && !holdsCredentials(address) ? URL.parse(address) : null;
    if (url === null || lockAddress !== undefined || (dialect ?? dialectOf(url)) !== "plain")
      return undefined;
    return {
      key: "address",
      code: "missing-key",
      message: "state.address has no address for its lock, and two runs at once would make databases twice",
      hint: "add lockAddress, which may be the address itself; GitLab and Gitea need none (dialect: gitlab or gitea)",
    };
  },
  pipeline: ({ address }, ci) =>
    // GitLab's own store takes the token that every job has.
    ci === "gitlab" && /\/api\/v4\/projects\/[^/]+\/terraform\/state\//.test(String(address))
      ? {}
      : {
          secrets: ["GRAPHFORM_STATE_USERNAME", "GRAPHFORM_STATE_PASSWORD"],
          instead: ["GRAPHFORM_STATE_TOKEN"],
        },
};

export type HttpCredentials =
  | { readonly username: string; readonly password: string }
  | { readonly token: string };

/** The credentials, and the names of the variables that they come from. Throws `state-credentials` if a half of them is set. */
export function httpCredentials(
  { address, lockAddress = address, unlockAddress = address }: Omit<HttpLocation, "type">,
  variable: GetVariable,
  isOtherEnd = false,
): { readonly value?: HttpCredentials; readonly source: string } {
  const prefix = isOtherEnd ? "GRAPHFORM_STATE_TO" : "GRAPHFORM_STATE";
  const [user, secret, bearer] = [`${prefix}_USERNAME`, `${prefix}_PASSWORD`, `${prefix}_TOKEN`];
  const [username, password, token] = [variable(user), variable(secret), variable(bearer)];
  const both = `${user} and ${secret}`;
  if (token !== undefined) return { value: { token }, source: bearer };
  if (username !== undefined && password !== undefined)
    return { value: { username, password }, source: both };
  if (username !== undefined || password !== undefined) {
    const message = `${username === undefined ? user : secret} is not set, and the other half is`;
    throw new GraphformError("state-credentials", message, { hint: `set ${both}, or ${bearer}` });
  }
  const job = variable("CI_JOB_TOKEN");
  const origin = URL.parse(variable("CI_API_V4_URL") ?? "")?.origin;
  const isAt = (place: string): boolean => origin !== undefined && URL.parse(place)?.origin === origin;
  // The address of a lock may be that of another host, which must not get the token of the job.
  if (job !== undefined && [address, lockAddress, unlockAddress].every(isAt))
    return { value: { username: "gitlab-ci-token", password: job }, source: "CI_JOB_TOKEN" };
  return { source: `none: ${both}, or ${bearer}` };
}
