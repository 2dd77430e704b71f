/** @module Sends requests of Terraform's protocol, with digests and credentials, and names the refusals of all of them. */

import { createHash } from "node:crypto";
import type { GraphformError } from "../../../model/errors.ts";
import { defined } from "../../../model/json.ts";
import { busyOr, denied, unreachable, unsuitable } from "../wire/refusals.ts";
import type { Send, StoreAnswer } from "../wire/send.ts";
import type { HttpAddresses } from "./http-addresses.ts";

/** Credentials of a request: a user with a password or a token in its place, or a bearer token. */
export type HttpSignIn =
  | { readonly username: string; readonly password: string }
  | { readonly token: string };

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

/**
 * Throws `state-unreachable` for a page in place of an answer: something before the store (a sign-in, a proxy) has sent it, and what
 * was asked may not have happened. An empty body is no page, whatever its type: frameworks name one by default.
 */
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

/** The error of an answer that is none of those that a request expects. Nothing of its text is repeated: it may hold a credential. */
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
      "GitLab answers so where a state is being deleted, and where it has stored this serial already",
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
