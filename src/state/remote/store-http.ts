/** @module Sends requests to a state store: one try, one time limit, answers as bytes. */
import { defined } from "../../model/json.ts";
import { type HttpAnswer, HttpError, type HttpRequest, openHttp } from "../../network/send-request.ts";
import { unreachable, unsuitable } from "./store-refusals.ts";

export interface StoreRequest extends Pick<HttpRequest, "method" | "headers" | "body"> {
  readonly url: URL;
}

/** An answer of any status. Header names are lower-case. */
export interface StoreAnswer extends HttpAnswer {
  readonly headers: { readonly [name: string]: string };
}

/** Rejects with `state-unreachable` if there is no whole answer: what was asked may have happened. */
export type Send = (request: StoreRequest) => Promise<StoreAnswer>;

export interface SenderOptions {
  /** Longest time from a request to the end of its answer, in ms. Default 30 s. */
  readonly timeout?: number;
  /** PEM text of authorities to trust besides the system's. */
  readonly ca?: string;
}

/** The largest answer that is read, in bytes: a state of 100 000 resources is a third of it. */
const maxSize = 256 * 1024 * 1024;

export function openSender({ timeout = 30_000, ca }: SenderOptions = {}): {
  readonly send: Send;
  close(): Promise<void>;
} {
  const http = openHttp({ timeout, maxSize, ...defined({ ca }) });
  return {
    async send({ method, url, headers, body }) {
      const { origin, pathname, search } = url;
      try {
        const path = pathname + search;
        const answer = await http.send({ method, origin, path, headers, ...defined({ body }) });
        const fields = Object.entries(answer.headers).map(([name, value]) => [
          name,
          [value ?? []].flat().join(", "),
        ]);
        return { ...answer, headers: Object.fromEntries(fields) };
      } catch (error) {
        throw error instanceof HttpError ? refusal(error, `${origin}${pathname}`, timeout) : error;
      }
    },
    close: http.close,
  };
}

function refusal({ failure, code, wasSent, isAboutTrust }: HttpError, where: string, timeout: number): Error {
  if (failure === "large") return unsuitable(where, `answers with more than ${maxSize / 1024 / 1024} MB`);
  if (failure === "slow")
    return unreachable(where, `did not answer within ${Math.round(timeout / 100) / 10} s`);
  return unreachable(
    where,
    wasSent ? `ended the connection (${code})` : `cannot be reached (${code})`,
    isAboutTrust ? "set GRAPHFORM_CA_FILE if the store has a certificate authority of its own" : undefined,
  );
}
