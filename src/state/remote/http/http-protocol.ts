/** @module Sends the requests of Terraform's protocol in one of its three dialects, names their refusals, and handles the lock. */
import { createHash } from "node:crypto";
import type { GraphformError } from "../../../model/errors.ts";
import { defined, objectIn } from "../../../model/json.ts";
import {
  dialectOf,
  type HttpLocation,
  type HttpCredentials as HttpSignIn,
} from "../../../model/stores/http.ts";
import { holderWith, isUnknown } from "../../lock-words.ts";
import type { Holder } from "../../store.ts";
import type { Taken } from "../driver.ts";
import { holderOf, lockInfoOf } from "../lock-info.ts";
import type { Send, SenderOptions, StoreAnswer } from "../store-http.ts";
import { busyOr, checkedUrl, denied, unreachable, unsuitable } from "../store-refusals.ts";

export interface HttpStoreConfig extends Omit<HttpLocation, "type">, SenderOptions {
  /** Time in ms between the two looks that prove that nothing is stored. Default 5 s. */
  readonly settle?: number;
}

export interface HttpAddresses
  extends Required<Pick<HttpLocation, "dialect" | "updateMethod" | "lockMethod" | "unlockMethod">> {
  readonly state: URL;
  readonly lock: URL;
  readonly unlock: URL;
  /** For people: the address without its query, which may have a token. */
  readonly where: string;
}

/** Throws `url-*` for an address that must not be used, and `state-unsuitable` if there is no address for the lock. */
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

/** Asked before each request, so that a credential that changes is followed; undefined sends none. */
export type HttpCredentials = () => HttpSignIn | undefined | Promise<HttpSignIn | undefined>;

/** Sends one request of the protocol; any status is an answer. */
export type HttpRequest = (method: string, url: URL, body?: string) => Promise<StoreAnswer>;

/** Makes the function that sends. An answer whose `Content-MD5` does not fit counts as no answer. */
export function httpRequest(send: Send, credentials: HttpCredentials, where: string): HttpRequest {
  return async (method, url, body) => {
    const signIn = await credentials();
    const bytes = body === undefined ? undefined : Buffer.from(body);
    const answer = await send({
      method,
      url,
      headers: {
        accept: "application/json",
        "user-agent": "graphform",
        ...(signIn === undefined ? {} : { authorization: authorization(signIn, where) }),
        ...(bytes === undefined ? {} : { "content-type": "application/json", "content-md5": md5(bytes) }),
      },
      ...defined({ body: bytes }),
    });
    const digest = answer.headers["content-md5"];
    if (digest !== undefined && answer.body.length > 0 && digest !== md5(answer.body))
      throw unreachable(where, "sent an answer that does not fit its Content-MD5");
    return answer;
  };
}

/** Throws `state-unreachable` for a page of a sign-in or a proxy before the store: what was asked may not have happened. An empty body is none. */
export function assertNoPage({ body, headers }: StoreAnswer, what: string, where: string): void {
  const text = body
    .toString("utf8")
    .replace(/^\ufeff/, "")
    .trimStart();
  const isHtml = /^text\/html\b/i.test(headers["content-type"] ?? "");
  if (text === "" || !(isHtml || text.startsWith("<"))) return;
  throw unreachable(
    where,
    `sent an HTML page in place of an answer (${what})`,
    "check what answers at this address: a sign-in or a proxy before the store sends such pages",
  );
}

/** The error of an unexpected answer. Nothing of its text is repeated: it may hold a credential. */
export function httpRefusal(
  { status, headers }: StoreAnswer,
  what: string,
  { where, dialect }: Pick<HttpAddresses, "where" | "dialect">,
): GraphformError {
  if (status === 401)
    return denied(where, `does not accept the credentials (${what}: 401)`, signInHint[dialect]);
  if (status === 403) return denied(where, `gives no right to ${what} (403)`, rightHint[dialect]);
  if (status === 404 && dialect !== "plain")
    return denied(where, `shows nothing there to these credentials (${what}: 404)`, rightHint[dialect]);
  if ((status >= 500 && status !== 501) || status === 429 || status === 408)
    return busyOr(where, `answered ${status} to ${what}`, headers);
  if (status === 413)
    return unsuitable(
      where,
      `takes no state of this size (${what}: 413)`,
      "raise the limit of the server (GitLab: the size limit of Terraform states), or divide the manifest",
    );
  if (status === 422)
    return unsuitable(
      where,
      `refused to ${what} (422)`,
      "GitLab answers so if a state is being deleted, and if it has stored this serial already",
    );
  if (status >= 300 && status < 400)
    return unsuitable(
      where,
      `sends elsewhere (${what}: ${status})`,
      "give the address where it has moved to",
    );
  return unsuitable(where, `answered ${status} to ${what}`, methodHint);
}

const signInHint: { readonly [dialect in HttpAddresses["dialect"]]: string } = {
  plain: "set the user and password, or the token, of the state store in the environment",
  gitlab:
    "set a user with a token of the scope api, or gitlab-ci-token with CI_JOB_TOKEN, in the environment",
  gitea: "set a user with a token of the scope write:package in the environment",
};

const rightHint: { readonly [dialect in HttpAddresses["dialect"]]: string } = {
  plain: "the store must let this user read, write and lock the state",
  gitlab:
    "the user needs the role Maintainer in the project (Developer may only read); a job token needs the project's own pipeline",
  gitea: "the user needs the right to write packages of this owner",
};

const methodHint =
  "check the address, and the options dialect, updateMethod, lockMethod and unlockMethod of the state";

function authorization(signIn: HttpSignIn, where: string): string {
  if (!("token" in signIn))
    return `Basic ${Buffer.from(`${signIn.username}:${signIn.password}`).toString("base64")}`;
  const token = signIn.token.trim();
  if (/^[\x21-\x7e]+$/.test(token)) return `Bearer ${token}`;
  throw denied(
    where,
    "cannot be given a token with blanks or characters outside of ASCII",
    "check the token in the environment",
  );
}

function md5(bytes: Uint8Array): string {
  return createHash("md5").update(bytes).digest("base64");
}

export interface HttpLock {
  take(holder: Holder): Promise<Taken>;
  /** Removes the lock if it has this holder's ID; false if it has another one, or there is none. */
  free(holder: Holder): Promise<boolean>;
  /** Asks who holds the lock; `blind` if the server does not show it. */
  look(): Promise<{ readonly is: "held"; readonly by: Holder } | { readonly is: "blind" }>;
}

/** GitLab refuses a longer ID. */
const longestId = 255;

/** A lock that is held under the same ID is taken: the answer to an earlier request was lost. */
export function httpLock(request: HttpRequest, addresses: HttpAddresses): HttpLock {
  const { lock, unlock, lockMethod, unlockMethod, where, dialect } = addresses;

  const free = async (holder: Holder): Promise<boolean> => {
    if (holder.id === "" || holder.id.length > longestId) return false;
    // GitLab takes a DELETE without ID for a forced unlock, and a proxy may drop the body of a DELETE.
    const url = unlockMethod === "DELETE" ? withId(unlock, holder.id) : unlock;
    const answer = await request(unlockMethod, url, JSON.stringify(lockInfoOf(holder, where)));
    if (isDone(answer)) {
      assertNoPage(answer, "unlock the state", where);
      return true;
    }
    if ([404, 409, 410, 412, 423].includes(answer.status)) return false;
    throw httpRefusal(answer, "unlock the state", addresses);
  };

  const tryOnce = async (holder: Holder): Promise<Taken | "freed meanwhile"> => {
    const answer = await request(lockMethod, lock, JSON.stringify(lockInfoOf(holder, where)));
    if (isDone(answer)) {
      try {
        assertNoPage(answer, "lock the state", where);
      } catch (error) {
        // The server may have locked nevertheless.
        await free(holder).catch(() => undefined);
        throw error;
      }
      return { is: "taken", lease: { holder, token: holder.id } };
    }
    if (answer.status !== 409 && answer.status !== 423)
      throw httpRefusal(answer, "lock the state", addresses);
    const info = objectIn(answer.body.toString("utf8")) ?? {};
    // GitLab shows no ID if the holder gave the lock back between its two looks.
    if (dialect === "gitlab" && info["ID"] === null) return "freed meanwhile";
    const by = holderIn(answer, addresses) ?? holderWith({});
    // Gitea names no holder. Only a lock of our own, whose answer was lost, opens with our ID, which no other run has.
    if (dialect === "gitea" && isUnknown(by) && (await free(holder))) return "freed meanwhile";
    return by.id === holder.id ? { is: "taken", lease: { holder, token: holder.id } } : { is: "held", by };
  };

  return {
    async take(holder) {
      const first = await tryOnce(holder);
      if (first !== "freed meanwhile") return first;
      const second = await tryOnce(holder);
      return second === "freed meanwhile" ? { is: "held", by: holderWith({}) } : second;
    },
    free,
    async look() {
      // At the state's own address a GET is the state.
      if (dialect === "gitlab" || lock.href === addresses.state.href) return { is: "blind" };
      const answer = await request("GET", lock);
      const by = answer.status === 200 ? holderIn(answer, addresses) : undefined;
      if (by !== undefined) return { is: "held", by };
      if (answer.status === 401 || (answer.status >= 500 && answer.status !== 501))
        throw httpRefusal(answer, "look at the lock", addresses);
      return { is: "blind" };
    },
  };
}

/** GitLab mixes the holder's ID, Who and Created with the requester's other keys: only those three are the holder's. */
function holderIn({ body }: StoreAnswer, { dialect }: HttpAddresses): Holder | undefined {
  const info = objectIn(body.toString("utf8")) ?? {};
  const { ID = null, Who = null, Created = null } = info;
  return holderOf(dialect === "gitlab" ? { ID, Who, Created } : info);
}

function isDone({ status }: StoreAnswer): boolean {
  return status === 200 || status === 201 || status === 204;
}
