/** @module Answers that refuse: problem+json (RFC 9457) with a stable code, and nothing of the inside. */
import { isAway } from "../database/connect.ts";
import type { Refused } from "../runs/decide.ts";

/** Codes of refusals with their status and title. A code is never renamed. */
const problems = {
  "invalid-request": [400, "the request does not fit its schema"],
  "invalid-json": [400, "the body is no JSON"],
  "no-token": [401, "a bearer token is missing"],
  "invalid-token": [401, "the token is unknown, expired or revoked"],
  "invalid-signature": [401, "the signature of the webhook does not fit"],
  forbidden: [403, "the role of this token does not allow it"],
  "not-encrypted": [403, "requests from other machines come by TLS, or through a trusted proxy"],
  "not-found": [404, "there is nothing of this name or id, or this token may not see it"],
  "method-not-allowed": [405, "this path does not have this method"],
  "not-waiting": [409, "the run does not wait for this"],
  changed: [409, "what was decided about has changed"],
  ended: [409, "the run has ended"],
  exists: [409, "there is one of this name already"],
  "from-git": [409, "the manifest comes from Git"],
  "too-early": [409, "it is too early for that"],
  "in-progress": [409, "the request with this Idempotency-Key is being answered"],
  "not-locked": [412, "the state is not locked under this ID"],
  "too-large": [413, "the body is too large"],
  "wrong-type": [415, "the body is not application/json"],
  "key-reused": [422, "the Idempotency-Key belongs to another request"],
  "invalid-state": [
    422,
    "the body is not the next state: it needs a serial and the lineage of the stored one, and the first state of a manifest must be graphform's",
  ],
  "serial-known": [422, "a version with this serial is stored already"],
  "source-refused": [422, "the configuration does not allow this source"],
  "too-many-requests": [429, "too many requests"],
  unexpected: [500, "an error that is not the caller's"],
  "database-unavailable": [503, "the database does not answer"],
  "not-ready": [503, "the controller is not ready"],
} as const;

export type ProblemCode = keyof typeof problems;

export const problemCodes = Object.keys(problems) as readonly ProblemCode[];

/** A refusal. `detail` is for people and names nothing that the caller may not see. */
export class Problem extends Error {
  readonly code: ProblemCode;
  readonly detail: string | undefined;
  readonly headers: { readonly [name: string]: string };

  constructor(code: ProblemCode, detail?: string, headers: { readonly [name: string]: string } = {}) {
    super(detail ?? problems[code][1]);
    this.name = "Problem";
    this.code = code;
    this.detail = detail;
    this.headers = headers;
  }
}

export function json(
  status: number,
  document: unknown,
  headers: { readonly [name: string]: string } = {},
): Response {
  return new Response(JSON.stringify(document), {
    status,
    headers: { "content-type": "application/json", "cache-control": "no-store", ...headers },
  });
}

export function problemAnswer({ code, detail, headers }: Problem): Response {
  const [status, title] = problems[code];
  const body = { type: `urn:graphform:problem:${code}`, title, status, code, detail };
  return json(status, body, { "content-type": "application/problem+json", ...headers });
}

/** The refusal for any error that was thrown. The text of an unknown error is not sent. */
export function problemOf(thrown: unknown): Problem {
  if (thrown instanceof Problem) return thrown;
  if (isAway(thrown)) return new Problem("database-unavailable", undefined, { "retry-after": "5" });
  return new Problem("unexpected");
}

/** Throws the refusal of a decision; returns everything else, and a word as the document `Done`. */
export function decided(decision: string | object): object {
  if (typeof decision === "string") return { result: decision };
  if (!isRefused(decision)) return decision;
  throw new Problem(decision.refused, decision.message);
}

function isRefused(decision: object): decision is Refused {
  return "refused" in decision;
}
