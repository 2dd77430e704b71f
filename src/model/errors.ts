/** @module Defines exit codes and the errors that carry them. */
import { defined } from "./json.ts";
import type { Hide } from "./known-secrets.ts";

/** Exit codes of the command line. When several apply, `worseExit` decides. */
export const exitCodes = {
  done: 0,
  error: 1,
  changes: 2,
  invalid: 3,
  blocked: 4,
  locked: 5,
  stale: 6,
  converging: 7,
  waitingForPerson: 8,
  interrupted: 130,
} as const;

export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

/** The message is lower-case and says what and where. */
export class GraphformError extends Error {
  readonly code: string;
  readonly exitCode: ExitCode;
  /** The remedy, in one sentence. */
  readonly hint: string | undefined;

  constructor(
    code: string,
    message: string,
    options: { exitCode?: ExitCode; hint?: string; cause?: unknown } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = "GraphformError";
    this.code = code;
    this.exitCode = options.exitCode ?? exitCodes.error;
    this.hint = options.hint;
  }
}

export function isGraphformError(error: unknown): error is GraphformError {
  return error instanceof GraphformError;
}

/** A thrown value as an error of ours. The words of a foreign exception are searched for secrets here, where they enter. */
export function ownError(thrown: unknown, hide: Hide): GraphformError {
  if (isGraphformError(thrown)) return thrown;
  const isLike = typeof thrown === "object" && thrown !== null && "message" in thrown;
  const said = hide(String(isLike ? thrown.message : thrown));
  if (said.endsWith(", uv_cwd"))
    return new GraphformError("folder-gone", "the current folder is gone", {
      hint: "go to one that is there",
    });
  const [, why, path] = /^(?:EACCES|EPERM|EROFS|ENOSPC|EDQUOT): (.*), \w+ '(.*?)'/.exec(said) ?? [];
  if (path !== undefined)
    return new GraphformError("file-unusable", `${path} cannot be used: ${why}`, {
      hint: "make it usable for this user, or name another place",
      cause: thrown,
    });
  const message = `unexpected error: ${said}`;
  const hint = "this is a bug in graphform; please report it with the command and the output of --log FILE";
  return new GraphformError("unexpected", message, { hint, cause: thrown });
}

export function asError(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error(String(thrown));
}

/** The manifest has problems: all of them, for the report. Exit code 3. */
export class ManifestError extends GraphformError {
  readonly problems: readonly Problem[];

  constructor(problems: readonly Problem[]) {
    super("manifest-invalid", "the manifest has problems", { exitCode: exitCodes.invalid });
    this.name = "ManifestError";
    this.problems = problems;
  }
}

export function isManifestError(error: unknown): error is ManifestError {
  return error instanceof ManifestError;
}

/** Class of a failed request, by its evidence about the work. */
export type ServiceFailure =
  | "not-found"
  | "unauthorized"
  | "forbidden"
  | "conflict"
  | "busy"
  | "invalid"
  | "rate-limited"
  | "unavailable"
  | "lost"
  | "shape"
  | "aborted";

/**
 * A request that the service refused or lost. The engine decides by `failure`: `busy` is an operation already in progress, `lost` a write
 * with an unknown outcome, `unavailable` a request that did no work, `shape` an answer that cannot be read.
 */
export class ServiceError extends GraphformError {
  readonly failure: ServiceFailure;
  readonly operation: string;
  readonly status: number | undefined;
  /** False if the answer says that the request did no work. A create believes only what lists show. */
  readonly mayHaveWorked: boolean;
  /** False if the request never left this process. */
  readonly wasSent: boolean;
  /** Pause that the service asks for, in ms. */
  readonly retryAfter: number | undefined;
  /** Host and port that were asked, if they are known. */
  readonly host: string | undefined;

  constructor(
    failure: ServiceFailure,
    operation: string,
    message: string,
    options: Evidence & { status?: number; retryAfter?: number; cause?: unknown } = {},
  ) {
    super(`service-${failure}`, message, options);
    this.name = "ServiceError";
    this.failure = failure;
    this.operation = operation;
    this.status = options.status;
    this.mayHaveWorked = options.mayHaveWorked ?? false;
    this.wasSent = options.wasSent ?? true;
    this.retryAfter = options.retryAfter;
    this.host = options.host;
  }
}

/** Evidence about the work of a failed request, the host that was asked, and the exit code of the command. */
interface Evidence {
  readonly mayHaveWorked?: boolean;
  readonly wasSent?: boolean;
  readonly host?: string;
  readonly exitCode?: ExitCode;
  readonly hint?: string;
}

export function withEvidence(error: ServiceError, evidence: Evidence): ServiceError {
  const { failure, operation, message, status, mayHaveWorked, wasSent, retryAfter, host, exitCode, hint } =
    error;
  return new ServiceError(failure, operation, message, {
    mayHaveWorked,
    wasSent,
    exitCode,
    ...defined({ status, retryAfter, host, hint }),
    ...evidence,
    cause: error,
  });
}

/** True for a service error, of the class named if one is named. */
export function isServiceError(error: unknown, failure?: ServiceFailure): error is ServiceError {
  return error instanceof ServiceError && (failure === undefined || error.failure === failure);
}

/** The exit code that wins when several apply: the lowest of 1, 3, 5, 6, 130, then the lowest of 4, 7, 8. */
export function worseExit(codes: readonly ExitCode[]): ExitCode {
  const first = codes.filter((code) => ([1, 3, 5, 6, 130] as ExitCode[]).includes(code));
  const second = codes.filter((code) => ([4, 7, 8] as ExitCode[]).includes(code));
  const lowest = (list: readonly ExitCode[]): ExitCode | undefined => [...list].sort((a, b) => a - b)[0];
  return lowest(first) ?? lowest(second) ?? (codes.includes(2) ? 2 : 0);
}

/** A word as a POSIX shell reads it back unchanged: bare if that is safe, single-quoted otherwise. */
export function shellWord(text: string): string {
  return /^[A-Za-z0-9_./:@%+=,-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

/** A position in a manifest file; lines and columns count from 1, as editors do. */
export interface Position {
  readonly line: number;
  readonly column: number;
}

/** Start and end of a text in a file. `end` is just past its last character. */
export interface SourceRange {
  readonly file: string;
  readonly start: Position;
  readonly end: Position;
}

/** Something that the manifest's author can fix. `code` is stable; `excerpt` is the source line. */
export interface Problem {
  readonly code: string;
  readonly severity: "error" | "warning";
  readonly message: string;
  readonly range: SourceRange;
  readonly excerpt?: string;
  readonly hint?: string;
  /** The resource it concerns, if there is one. */
  readonly address?: string;
}
