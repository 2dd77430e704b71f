/** @module Defines requests, responses and the transport between them. */
/** A request as it goes over the wire. */
export interface WireRequest {
  /** Our name of the operation, for errors: `instance.describe`. */
  readonly operation: string;
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** Scheme, host and port. */
  readonly origin: string;
  /** Path and query. */
  readonly path: string;
  readonly headers: { readonly [name: string]: string };
  readonly body?: string;
  /** True for a request that changes something: its failure may leave the outcome unknown. */
  readonly isWrite: boolean;
}

/** The answer as it came; every status is one. */
export interface WireResponse {
  readonly status: number;
  /** Names in lower case; several values of one name stay apart. */
  readonly headers: { readonly [name: string]: string | readonly string[] | undefined };
  readonly body: string;
}

/**
 * Sends one request, once. Rejects with ServiceError: `unavailable` where it was certainly not sent, `lost` where that is
 * unknown, `shape` where the answer was too large, `aborted`. It is not begun any more once `unsent` is aborted.
 */
export type Transport = (
  request: WireRequest,
  signal: AbortSignal,
  unsent?: AbortSignal,
) => Promise<WireResponse>;
