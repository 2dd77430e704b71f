/** @module Writes a finished request to the request log, without secrets. */
import type { Context } from "hono";
import type { Json } from "../../model/json.ts";
import type { Fault } from "../control/fault-rule.ts";
import type { Core } from "../core.ts";
import type { ErrorFormat } from "./error-format.ts";
import { redactBody, secretsIn } from "./known-secrets.ts";

/** A finished request and its answer. */
export interface RequestResult {
  /** The body as text and as JSON; undefined where it was not read or is not JSON. */
  readonly text: string;
  readonly body: Json | undefined;
  readonly isSignedIn: boolean;
  readonly fault: Fault;
  /** 0 when the connection was cut. */
  readonly status: number;
  readonly ms: number;
}

/** Maximum length of a logged body, in characters. */
const longestBody = 16 * 1024;
const mostNotes = 10;

/** Adds the request to the log, with notes on secrets that were sent in a wrong place. */
export function logRequest(
  core: Core,
  host: ErrorFormat["name"],
  operation: string,
  context: Pick<Context, "req">,
  result: RequestResult,
): void {
  const { method, path, url } = context.req;
  const notes: string[] = [];
  const logged = loggedBody(core, result);
  for (const place of logged.misplaced) notes.push(`a secret is in the body at ${place}`);
  const query = url.includes("?") ? [...new URL(url).searchParams] : [];
  for (const [name, value] of query) {
    if (/pass|secret|token/i.test(name) || core.secrets.redact(value) !== value)
      notes.push(`a secret is in query ${name}`);
  }
  const segments = path.split("/");
  const clean = segments.map((segment) => (core.secrets.has(decoded(segment)) ? "[redacted]" : segment));
  if (clean.some((segment, index) => segment !== segments[index])) notes.push("a secret is in the path");
  const authorization = context.req.header("authorization");
  if (authorization !== undefined && /^basic /i.test(authorization) && operation !== "signin") {
    notes.push("basic credentials were sent to something that is not sign-in");
  }
  if (
    host === "users" &&
    context.req.header("cookie")?.includes(`${core.dialect.cookies.session}=`) &&
    !core.sharesPort
  ) {
    notes.push("a session cookie was sent to the users host");
  }
  const faults = Object.keys(result.fault);
  core.log.add({
    time: new Date(core.now()).toISOString(),
    host,
    method,
    path: clean.join("/"),
    operation,
    query: query.map(([name]) => name),
    status: result.status,
    ms: Math.round(result.ms * 10) / 10,
    ...(logged.body === undefined ? {} : { body: logged.body }),
    ...(faults.length === 0 ? {} : { fault: faults }),
    ...(notes.length === 0 ? {} : { notes: notes.slice(0, mostNotes) }),
  });
}

interface LoggedBody {
  readonly body?: Json;
  readonly misplaced: readonly string[];
}

/** The body without secrets. Secrets of trusted requests are remembered; anonymous clients could send any number of them. */
function loggedBody(core: Core, { text, body, isSignedIn, status }: RequestResult): LoggedBody {
  if (body === undefined) return { misplaced: [] };
  if (text.length > longestBody) return { body: `[${text.length} characters]`, misplaced: [] };
  const isTrusted = isSignedIn || (status > 0 && status < 400);
  if (isTrusted) for (const secret of secretsIn(body)) core.secrets.add(secret);
  return redactBody(body, core.secrets);
}

function decoded(segment: string): string {
  if (!segment.includes("%")) return segment;
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}
