/** @module Sends requests to a state store: one try, one time limit, answers as bytes. */
import type { Dispatcher, Pool } from "undici";
import { GraphformError } from "../../../model/errors.ts";
import { type Refusal, urlRefusal } from "../../../model/store-url.ts";
import { connectionPools, isAboutTrust } from "../../../network/connection-pools.ts";
import { unreachable, unsuitable } from "./refusals.ts";

/** A request as it goes out. */
export interface StoreRequest {
  readonly method: string;
  readonly url: URL;
  readonly headers: { readonly [name: string]: string };
  readonly body?: Uint8Array;
}

/** An answer of any status. Header names are lower-case. */
export interface StoreAnswer {
  readonly status: number;
  readonly headers: { readonly [name: string]: string };
  readonly body: Buffer;
}

/** Rejects with `state-unreachable` where there is no whole answer: what was asked may have happened. */
export type Send = (request: StoreRequest) => Promise<StoreAnswer>;

/** Options of `openSender`. */
export interface SenderOptions {
  /** Longest time from a request to the end of its answer, in ms. Default 30 s. */
  readonly timeout?: number;
  /** PEM text of authorities to trust besides the system's. */
  readonly ca?: string;
}

/** A function that sends, and one that ends its connections. */
export interface Sender {
  readonly send: Send;
  close(): Promise<void>;
}

/** The largest answer that is read, in bytes: a state of 100 000 resources is a third of it. */
const largest = 256 * 1024 * 1024;

/** Opens connections. An idle one does not keep the process alive. */
export function openSender({ timeout = 30_000, ca }: SenderOptions = {}): Sender {
  const pools = connectionPools({ ca, patience: timeout });
  return {
    send: (request) => exchange(request, pools.of(request.url.origin), timeout),
    async close() {
      await Promise.all(pools.all().map((pool) => pool.destroy()));
    },
  };
}

function exchange(request: StoreRequest, pool: Pool, timeout: number): Promise<StoreAnswer> {
  const { method, url, headers, body = null } = request;
  const where = `${url.origin}${url.pathname}`;
  return new Promise((resolve, reject) => {
    let controller: Dispatcher.DispatchController | undefined;
    let stopped: Error | undefined;
    let [status, size] = [0, 0];
    let received: StoreAnswer["headers"] = {};
    const chunks: Buffer[] = [];
    const stop = (error: Error): void => {
      stopped = error;
      reject(error);
      // undici reports an abort to the handler below, which has nothing more to say.
      controller?.abort(new Error("stopped"));
    };
    const timer = setTimeout(
      () => stop(unreachable(where, `did not answer within ${Math.round(timeout / 100) / 10} s`)),
      timeout,
    );
    const handler: Dispatcher.DispatchHandler = {
      onRequestStart(started) {
        controller = started;
        if (stopped !== undefined) started.abort(new Error("stopped"));
      },
      onResponseStart(_, code, fields) {
        status = code;
        received = flat(fields);
      },
      onResponseData(_, chunk) {
        size += chunk.length;
        chunks.push(chunk);
        if (size > largest) stop(unsuitable(where, `answers with more than ${largest / 1024 / 1024} MB`));
      },
      onResponseEnd() {
        clearTimeout(timer);
        resolve({ status, headers: received, body: Buffer.concat(chunks) });
      },
      onResponseError(_, cause) {
        clearTimeout(timer);
        const code = codeOf(cause);
        const isTls = isAboutTrust(code);
        reject(
          unreachable(
            where,
            controller === undefined ? `cannot be reached (${code})` : `ended the connection (${code})`,
            isTls
              ? "set GRAPHFORM_CA_FILE where the store has a certificate authority of its own"
              : undefined,
          ),
        );
      },
    };
    const { pathname, search } = url;
    pool.dispatch({ path: `${pathname}${search}`, method, headers, body }, handler);
  });
}

function flat(headers: { readonly [name: string]: string | string[] | undefined }): StoreAnswer["headers"] {
  const entries = Object.entries(headers).flatMap(([name, value]): [string, string][] =>
    value === undefined ? [] : [[name.toLowerCase(), Array.isArray(value) ? value.join(", ") : value]],
  );
  return Object.fromEntries(entries);
}

/** The code and never the text of a failure: a text may repeat a header. */
function codeOf(cause: Error): string {
  const code = "code" in cause && typeof cause.code === "string" ? cause.code : cause.name;
  return /^\w{1,60}$/.test(code) ? code : "no reason given";
}

/**
 * Throws `url-invalid` for anything but an http or https URL without user and password, and `url-in-clear` for http to
 * another machine. `setting` is named in messages.
 */
export function checkedUrl(text: string, setting: string): URL {
  assertNone(urlRefusal(text, setting));
  return new URL(text);
}

/** Throws a refusal. */
export function assertNone(refusal: Refusal | undefined): void {
  if (refusal !== undefined) throw new GraphformError(refusal.code, refusal.message, { hint: refusal.hint });
}
