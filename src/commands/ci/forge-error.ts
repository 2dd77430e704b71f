/** @module Makes errors of failed requests to GitHub or GitLab, and says which of them may pass. */
import { GraphformError } from "../../model/errors.ts";
import { isObject, type Json } from "../../model/json.ts";
import type { Hide } from "../../model/known-secrets.ts";
import type { PassingFailure } from "../../network/repeat-request.ts";
import { isAboutTrust } from "../../network/send-request.ts";

/** Outcome of a failed request: it may be sent again, it may have added something, or it was refused for good. */
type ForgeFailure = "passing" | "lost" | "refused";

/** A request to a forge that failed. The token is not in it. */
export class ForgeError extends GraphformError {
  readonly failure: ForgeFailure;
  /** Pause that the forge asks for, in ms. */
  readonly retryAfter: number | undefined;

  constructor(
    failure: ForgeFailure,
    code: string,
    message: string,
    options: { hint?: string; cause?: unknown; retryAfter?: number | undefined } = {},
  ) {
    super(code, message, options);
    this.name = "ForgeError";
    this.failure = failure;
    this.retryAfter = options.retryAfter;
  }
}

/** Longest pause that a forge may ask for, in ms: nobody waits an hour for a comment. */
const longestPause = 120_000;

/** Tells `repeatRequest` which requests may be sent again. */
export function passesAgain(error: Error): PassingFailure | undefined {
  if (!(error instanceof ForgeError) || error.failure !== "passing") return undefined;
  return (error.retryAfter ?? 0) > longestPause ? undefined : { retryAfter: error.retryAfter };
}

/** Tells `repeatRequest` which additions may have worked: one may be sent again once nothing is found. */
export function wasLost(error: Error): PassingFailure | undefined {
  return error instanceof ForgeError && error.failure === "lost" ? {} : undefined;
}

/** A request, for errors. */
export interface Sent {
  readonly method: string;
  readonly path: string;
  /** True for a request that changes nothing: it may be sent again. */
  readonly isRead: boolean;
}

/** The error of a request without an answer. */
export function unanswered(sent: Sent, hostname: string, cause: unknown): ForgeError {
  const reason = reasonOf(cause);
  const isTrust = isAboutTrust(reason);
  return new ForgeError(
    isTrust ? "refused" : unknown(sent),
    "forge-unreachable",
    `no answer to ${sent.method} ${sent.path} from ${hostname}${reason === "" ? "" : ` (${reason})`}`,
    { hint: isTrust ? "set NODE_EXTRA_CA_CERTS to the file of its authority" : "run the job again", cause },
  );
}

/** The error of an answer that is no success. `hint` says which rights are needed, `now` is in ms since 1970. */
export function refused(
  sent: Sent,
  { status, headers }: Pick<Response, "status" | "headers">,
  answer: Json,
  { hint, now, hide }: { readonly hint: string; readonly now: number; readonly hide: Hide },
): ForgeError {
  const text = isObject(answer) ? (answer["message"] ?? answer["error"]) : undefined;
  const message = `${sent.method} ${sent.path}: ${status}${typeof text === "string" ? `: ${hide(text)}` : ""}`;
  if (status >= 500)
    return new ForgeError(unknown(sent), "forge-unreachable", message, { hint: "run the job again" });
  const retryAfter = pauseOf(headers, now);
  // GitHub answers 403 to a token that has asked too often, and says so in a header.
  if (status === 429 || (status === 403 && retryAfter !== undefined)) {
    return new ForgeError("passing", "forge-busy", message, {
      hint: "too many requests with this token: run the job again later",
      retryAfter,
    });
  }
  if (status === 410)
    return new ForgeError("refused", "forge-refused", message, {
      hint: "turn it on in the settings of the repository",
    });
  if (status !== 401 && status !== 403) return new ForgeError("refused", "forge-refused", message, { hint });
  return new ForgeError("refused", "forge-denied", `the token of this job may not do this: ${message}`, {
    hint,
  });
}

/** Outcome of a request that may have been carried out: only a POST adds something each time. */
function unknown({ method, isRead }: Sent): ForgeFailure {
  return method === "POST" && !isRead ? "lost" : "passing";
}

/** The pause of `Retry-After`, or of GitHub's limit where it is used up; undefined where neither is said. */
function pauseOf(headers: Headers, now: number): number | undefined {
  const after = headers.get("retry-after")?.trim() ?? "";
  if (after !== "") {
    const ms = /^\d+$/.test(after) ? Number(after) * 1000 : Date.parse(after) - now;
    return Number.isNaN(ms) ? 0 : Math.max(0, ms);
  }
  const reset = Number(headers.get("x-ratelimit-reset") ?? Number.NaN);
  if (headers.get("x-ratelimit-remaining") !== "0" || Number.isNaN(reset)) return undefined;
  return Math.max(0, reset * 1000 - now);
}

/** Code of the system's error below an error of `fetch`. */
function reasonOf(error: unknown): string {
  for (let at = error; at instanceof Error; at = at.cause)
    if ("code" in at && typeof at.code === "string") return at.code;
  return error instanceof Error && error.name === "TimeoutError" ? "no answer in time" : "";
}
