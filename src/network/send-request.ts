/** @module Sends one HTTP request, once, and says of a failure whether the request was sent. */
import type { SecureContext } from "node:tls";
import { Agent, type Dispatcher } from "undici";
import { callAfter } from "../model/clock.ts";
import { own } from "../model/json.ts";
import { onAbort } from "../model/once.ts";

export interface HttpRequest {
  readonly method: string;
  readonly origin: string;
  readonly path: string;
  readonly headers: { readonly [name: string]: string };
  readonly body?: string | Uint8Array;
}

/** An answer of any status. Header names are lower-case; several values of one name stay apart. */
export interface HttpAnswer {
  readonly status: number;
  readonly headers: { readonly [name: string]: string | readonly string[] | undefined };
  readonly body: Buffer;
}

/** The pause that `Retry-After` asks for, in ms: seconds, or a date by a clock that says `now`. Undefined if there is none that can be read. */
export function retryAfterIn(headers: HttpAnswer["headers"], now: number): number | undefined {
  const text = [headers["retry-after"] ?? []].flat()[0]?.trim() ?? "";
  const date = /[A-Za-z]/.test(text) ? Date.parse(text) - now : Number.NaN;
  const ms = /^\d{1,9}(\.\d+)?$/.test(text) ? Number(text) * 1000 : date;
  return Number.isNaN(ms) ? undefined : Math.max(0, ms);
}

/** `broken`: no connection, or a connection that ended; `slow` and `large`: more than the limit. */
export type HttpFailure = "aborted" | "broken" | "slow" | "large";

/** A request without a whole answer. The message has the code of the system's error and no text, which may repeat a header. */
export class HttpError extends Error {
  readonly failure: HttpFailure;
  /** True from the moment at which the first byte may have been written. */
  readonly wasSent: boolean;
  /** Code of the system's error: `ECONNRESET`. */
  readonly code: string;
  /** The status of an answer that began; 0 if none did. */
  readonly status: number;
  /** True if the other side showed a certificate that is not trusted. */
  readonly isAboutTrust: boolean;

  constructor(failure: HttpFailure, wasSent: boolean, status: number, cause?: Error) {
    const code = cause === undefined ? failure : codeOf(cause);
    super(code, { cause });
    this.name = "HttpError";
    this.failure = failure;
    this.wasSent = wasSent;
    this.code = code;
    this.status = status;
    this.isAboutTrust = failure === "broken" && /CERT|SIGNED|ISSUER|TLS|SSL|ALTNAME/.test(code);
  }
}

export interface HttpOptions {
  /** PEM text of authorities to trust besides the system's. */
  readonly ca?: string | undefined;
  /** Longest time from a request to the end of its answer, in ms. */
  readonly timeout: number;
  /** Longest silence of a connection, in ms. Default: `timeout`. */
  readonly silence?: number;
  /** The largest answer that is read, in bytes. */
  readonly maxSize: number;
}

/** Connections that are kept alive. An idle one does not keep the process alive. */
export interface Http {
  /** Sends a request, once, unless `mayLeave`, asked last just before its first byte is written, says no. Rejects with `HttpError`. */
  send(request: HttpRequest, signal?: AbortSignal, mayLeave?: () => boolean): Promise<HttpAnswer>;
  close(): Promise<void>;
}

/** Opens HTTP for one client. Callers repeat with `repeatRequest`; redirects are not followed. */
export function openHttp(options: HttpOptions): Http {
  const agent = connections(options);
  return {
    send: (request, signal, mayLeave) => exchange(request, agent, options, signal, mayLeave),
    close: () => agent.destroy(),
  };
}

function exchange(
  { origin, path, method, headers, body: sent }: HttpRequest,
  agent: Agent,
  { timeout, maxSize }: HttpOptions,
  signal?: AbortSignal,
  mayLeave: () => boolean = () => true,
): Promise<HttpAnswer> {
  return new Promise((resolve, reject) => {
    let controller: Dispatcher.DispatchController | undefined;
    let [isOver, status, size] = [false, 0, 0];
    let received: HttpAnswer["headers"] = {};
    const chunks: Buffer[] = [];
    let stopWatching: (() => void) | undefined;
    const stopTimer = callAfter(timeout, () => end("slow"));
    const end = (failure?: HttpFailure, cause?: Error): void => {
      if (isOver) return;
      isOver = true;
      stopTimer();
      stopWatching?.();
      const whole = Buffer.concat(chunks);
      const body = failure === undefined ? unpacked(whole, received["content-encoding"], maxSize) : undefined;
      if (body === undefined)
        reject(new HttpError(failure ?? "large", controller !== undefined, status, cause));
      else resolve({ status, headers: received, body });
      // undici reports an abort to the handler below, which has nothing more to say.
      if (failure !== undefined) controller?.abort(new Error(failure));
    };
    const isGivenUp = (): boolean => isOver || signal?.aborted === true || !mayLeave();
    if (isGivenUp()) return end("aborted");
    const handler: Dispatcher.DispatchHandler = {
      onRequestStart(started) {
        // Called just before the request is written.
        if (isGivenUp()) end("aborted");
        if (isOver) return started.abort(new Error("given up"));
        controller = started;
      },
      onResponseStart(_, code, fields) {
        status = code;
        received = fields;
      },
      onResponseData(_, chunk) {
        size += chunk.length;
        chunks.push(chunk);
        if (size > maxSize) end("large");
      },
      onResponseEnd: () => end(),
      onResponseError: (_, cause) =>
        controller === undefined && isGivenUp() ? end("aborted") : end("broken", cause),
    };
    if (signal !== undefined) stopWatching = onAbort(signal, () => end("aborted"));
    agent.dispatch({ origin, path, method, headers, body: sent ?? null }, handler);
  });
}

/** A body that was packed, which some proxies do unasked, as it was before; undefined if it is larger than `maxOutputLength` bytes. */
function unpacked(body: Buffer, encoding: unknown, maxOutputLength: number): Buffer | undefined {
  if (encoding === undefined || body.length === 0) return body;
  const { gunzipSync, inflateSync, brotliDecompressSync } = process.getBuiltinModule("node:zlib");
  const ways = { gzip: gunzipSync, "x-gzip": gunzipSync, deflate: inflateSync, br: brotliDecompressSync };
  const unpack = own(ways, String(encoding).trim().toLowerCase());
  try {
    return unpack === undefined ? body : unpack(body, { maxOutputLength });
  } catch (error) {
    // A body that is not packed as it says may be whole as it is.
    return error instanceof RangeError ? undefined : body;
  }
}

function codeOf(cause: Error): string {
  const code = "code" in cause && typeof cause.code === "string" ? cause.code : cause.name;
  return /^\w{1,60}$/.test(code) ? code : "no reason given";
}

/** Free connections are dropped before servers usually do, so that no request is sent into one that is closing. */
const idle = 4000;

/** Opens connections with undici, to any origin. Redirects are not followed, no proxy is used, nothing is sent twice. */
function connections({ ca, timeout, silence = timeout }: HttpOptions): Agent {
  return new Agent({
    pipelining: 1,
    keepAliveTimeout: idle,
    keepAliveMaxTimeout: idle,
    headersTimeout: silence,
    bodyTimeout: silence,
    allowH2: false,
    connect: { timeout: silence, ...(ca === undefined ? {} : trusting(ca)) },
  });
}

/** Trust in an authority besides the system's: a bare `ca` would replace them. TLS is loaded here, since it takes long. */
function trusting(ca: string): { readonly secureContext: SecureContext } {
  const { createSecureContext, getCACertificates } = process.getBuiltinModule("node:tls");
  return { secureContext: createSecureContext({ ca: [...getCACertificates("default"), ca] }) };
}
