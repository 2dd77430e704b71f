import { Agent } from "undici";
import type { Dispatcher } from "undici";
import { ServiceError } from "../model/errors.ts";

/** A request as it goes over the wire. */
export interface WireRequest {
  readonly operation: string;
  readonly method: string;
  readonly origin: string;
  readonly path: string;
  readonly headers: { readonly [name: string]: string };
  readonly body?: string;
}

/** The answer as it came: every status is one. */
export interface WireResponse {
  readonly status: number;
  /** Lower-case names; several values of one name stay apart. */
  readonly headers: { readonly [name: string]: string | readonly string[] | undefined };
  readonly body: string;
}

/** Sends one request, once. Rejects with ServiceError: `unavailable` where it surely was not sent, else `lost`. */
export interface Transport {
  send(request: WireRequest, signal: AbortSignal): Promise<WireResponse>;
  close(): Promise<void>;
}

/** The largest answer that is read, in bytes. */
const largest = 16 * 1024 * 1024;

/** How long a connection, the headers and each part of a body may take, in ms. */
const patience = { connect: 10_000, answer: 30_000 };

/** The real transport: undici with connections kept alive; redirects are not followed, and no proxy is used. */
export function undiciTransport(options: { readonly ca?: string } = {}): Transport {
  const agent = new Agent({
    connections: 64,
    pipelining: 1,
    keepAliveTimeout: 10_000,
    headersTimeout: patience.answer,
    bodyTimeout: patience.answer,
    connect: { timeout: patience.connect, ...(options.ca === undefined ? {} : { ca: options.ca }) },
  });
  return {
    async send(request, signal) {
      const { operation, origin, path, headers, body } = request;
      const method = request.method as Dispatcher.HttpMethod;
      try {
        const answer = await agent.request({ origin, path, method, headers, body: body ?? null, signal });
        return { status: answer.statusCode, headers: answer.headers, body: await readBody(answer.body, operation) };
      } catch (error) {
        throw transportError(error, request, signal);
      }
    },
    close: () => agent.destroy(),
  };
}

async function readBody(stream: AsyncIterable<Buffer>, operation: string): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of stream) {
    size += chunk.length;
    if (size > largest) {
      throw new ServiceError("shape", operation, `${operation}: the answer is larger than ${largest / 1024 / 1024} MB`, { mayHaveWorked: true });
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}

const unsent = new Set(["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN", "EHOSTUNREACH", "ENETUNREACH", "UND_ERR_CONNECT_TIMEOUT"]);

function transportError(error: unknown, { operation, origin }: WireRequest, signal: AbortSignal): unknown {
  if (error instanceof ServiceError) return error;
  if (signal.aborted) return new ServiceError("aborted", operation, `${operation}: interrupted`, { mayHaveWorked: true, cause: error });
  const code = codeOf(error);
  if (unsent.has(code) || isUntrusted(code)) {
    const hint = isUntrusted(code)
      ? "set GRAPHFORM_CA_FILE where the service has an authority of its own"
      : "check the address, and whether the service runs";
    return new ServiceError("unavailable", operation, `${operation}: ${origin} cannot be reached (${code})`, { cause: error, hint });
  }
  return new ServiceError("lost", operation, `${operation}: the answer was lost (${code})`, { mayHaveWorked: true, cause: error });
}

function isUntrusted(code: string): boolean {
  return /CERT|SELF_SIGNED|UNABLE_TO_|ERR_TLS|ERR_SSL/.test(code);
}

function codeOf(error: unknown): string {
  if (typeof error !== "object" || error === null) return String(error);
  if ("code" in error && typeof error.code === "string") return error.code;
  if ("errors" in error && Array.isArray(error.errors) && error.errors.length > 0) return codeOf(error.errors[0]);
  return error instanceof Error ? error.message : "unknown";
}
