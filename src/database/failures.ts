/** @module Defines a database to connect to, when its time is over, and why it could not be used. */
import { readFile } from "node:fs/promises";
import { asError, GraphformError } from "../model/errors.ts";
import type { DatabaseLogin } from "../model/kind.ts";
import { onAbort } from "../model/once.ts";

export type DatabaseFailure = "refused-credentials" | "unreachable" | "unresolved" | "no-tls";

export type Obstacle = "refused" | "silent" | "not-trusted" | "no-handshake" | "not-ready" | "cut";

/** A failed connection or command. The message contains no credentials. */
export class DatabaseError extends GraphformError {
  readonly failure: DatabaseFailure;
  readonly obstacle: Obstacle;
  /** True if the running database itself called the password wrong: no time-out, no "not ready", no missing right. */
  readonly isWrongPassword: boolean;

  constructor(failure: DatabaseFailure, message: string, cause?: unknown, obstacle: Obstacle = "cut") {
    super(`database-${failure}`, message, { cause });
    this.name = "DatabaseError";
    this.failure = failure;
    this.obstacle = obstacle;
    this.isWrongPassword = cause instanceof Error && cause.message.startsWith("WRONGPASS");
  }
}

export function isDatabaseError(error: unknown): error is DatabaseError {
  return error instanceof DatabaseError;
}

/** True for an error reply that asks to try later. It proves nothing about credentials. */
export function isNotReady(error: Error): boolean {
  return /^(LOADING|BUSY|MASTERDOWN|CLUSTERDOWN|DENIED|ERR max number of clients)/i.test(error.message);
}

/** The PEM text of a file of authorities. Rejects with a DatabaseError. */
export async function authorities(file: string): Promise<string> {
  try {
    return await readFile(file, "utf8");
  } catch (cause) {
    throw new DatabaseError("unreachable", `the authorities in ${file} cannot be read`, cause, "not-trusted");
  }
}

/** Parts of a timeout: each needs a turn of the event loop, so that a busy process still hears a database that answered in time. */
const ticks = 10;

/** The end of the time that a target is given: it only ever rejects. */
export function endOf(
  target: DatabaseLogin,
  signal: AbortSignal,
): { readonly reached: Promise<never>; cancel(): void } {
  const { promise, reject } = Promise.withResolvers<never>();
  promise.catch(() => undefined);
  const { timeout: ms = 2000 } = target;
  const message = `${nameOf(target)} did not answer within ${ms} ms`;
  const late = (): void => reject(new DatabaseError("unreachable", message, undefined, "silent"));
  let left = ticks;
  const timer = setInterval(() => {
    left -= 1;
    if (left <= 0) late();
  }, ms / ticks);
  const letGo = onAbort(signal, reject);
  return {
    reached: promise,
    cancel(): void {
      clearInterval(timer);
      letGo();
      late();
    },
  };
}

function nameOf({ host, port }: DatabaseLogin): string {
  return `the database at ${host}:${port}`;
}

export function broken(target: DatabaseLogin, cause: unknown): DatabaseError {
  const code = cause instanceof Error && "code" in cause ? String(cause.code) : "";
  if (cause instanceof Error && "syscall" in cause && cause.syscall === "getaddrinfo") {
    return new DatabaseError("unresolved", `the name ${target.host} does not resolve (${code})`, cause);
  }
  if (cause instanceof Error && /wrong version number/i.test(`${code.replaceAll("_", " ")} ${cause.message}`))
    return new DatabaseError("no-tls", `${nameOf(target)} does not speak TLS`, cause);
  const why = code === "" ? saidBy(target, asError(cause)) : code;
  const message = `${nameOf(target)} cannot be reached: ${why}`;
  return new DatabaseError("unreachable", message, cause, obstacleOf(code));
}

function saidBy({ hide }: DatabaseLogin, { message }: Error): string {
  return hide === undefined ? message : hide(message);
}

function obstacleOf(code: string): Obstacle {
  if (code === "ECONNREFUSED") return "refused";
  if (/^(ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|EHOSTDOWN)$/.test(code)) return "silent";
  if (/CERT|HOSTNAME_MISMATCH|UNABLE_TO_VERIFY/.test(code)) return "not-trusted";
  return /^(EPROTO$|ERR_SSL_|ERR_TLS_)/.test(code) ? "no-handshake" : "cut";
}

export function refused(target: DatabaseLogin, reply: Error): DatabaseError {
  const name = nameOf(target);
  if (!isNotReady(reply))
    return new DatabaseError("refused-credentials", `${name} refused the credentials`, reply);
  const message = `${name} is not ready: ${saidBy(target, reply)}`;
  return new DatabaseError("unreachable", message, reply, "not-ready");
}
