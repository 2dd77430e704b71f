/** @module Defines the messages between a worker and its threads, which are plain data, and the failures that they report. */
import { basename } from "node:path";
import { type ApplyEvent, GraphformError, ManifestError, type ManifestLimits } from "../../index.ts";
import type { TenantWorld } from "../sources/tenant-world.ts";
import type { PlanDocument } from "./verdict.ts";

/** The manifest of a tenant, with the world that it may see: to be planned, or applied within an approved plan. */
export interface Order extends Pick<TenantWorld, "env" | "service"> {
  /** Files of the checkout, absolute. */
  readonly files: readonly string[];
  readonly limits: ManifestLimits;
  /** Ids of objects that the tenant's other manifests have made. */
  readonly boundElsewhere: readonly string[];
  /** Address of the state, without credentials. */
  readonly state: string;
  readonly approved?: Approved;
}

/** The plan that an apply stays within. */
export interface Approved {
  readonly fingerprint: string;
  readonly document: PlanDocument;
  /** True if an earlier worker may have done a part of it. */
  readonly isResumed: boolean;
}

/** The result of an apply. `refused` is the plan that went beyond the approved one, with the reason: nothing was applied. */
export type Applied =
  | { readonly exitCode: number; readonly reasons: readonly string[] }
  | { readonly refused: PlanDocument; readonly why: string };

/** A message to a thread, which has one order at a time. */
export type ToThread = Order | "stop";

/** A message of a thread: something that happened, or the end of its order. */
export type FromThread<T> =
  | { readonly event: ApplyEvent }
  | { readonly done: T }
  | { readonly failure: Failure };

/** An error that a thread has caught, or its own end; the message holds no secret. */
export interface Failure {
  readonly code: string;
  readonly message: string;
  readonly exitCode: number;
}

/** The code of the failure that is the end of the thread itself. */
export const threadEnded = "thread-ended";

/** Rejects an order in the worker. */
export class OrderFailed extends Error {
  readonly failure: Failure;

  constructor(failure: Failure) {
    super(failure.message);
    this.failure = failure;
  }
}

/** The failure of an error; of a foreign one only its name is told, since its words may quote a secret. */
export function failureOf(error: unknown): Failure {
  if (error instanceof OrderFailed) return error.failure;
  if (error instanceof GraphformError) {
    const { code, message, exitCode } = error;
    return { code, message: error instanceof ManifestError ? problemsOf(error) : message, exitCode };
  }
  const message = `an unexpected error (${error instanceof Error ? error.name : typeof error})`;
  return { code: "unexpected", message, exitCode: 1 };
}

function problemsOf({ problems }: ManifestError): string {
  const lines = problems.slice(0, 20).map(({ range: { file, start }, message, hint }) => {
    const words = hint === undefined ? message : `${message} (${hint})`;
    return `${basename(file)}:${start.line}:${start.column}: ${words}`;
  });
  return lines.join("\n");
}
