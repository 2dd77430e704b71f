/** @module Defines the messages between a worker and its threads. All of them are plain data. */
import type { ApplyEvent, ManifestLimits } from "../../index.ts";
import type { PlanDocument } from "./verdict.ts";

/** The manifest of a tenant, with the world that it may see. */
export interface Order {
  /** Files of the checkout, absolute. */
  readonly files: readonly string[];
  /** Environment of the tenant, with the login for its service and for its state. */
  readonly env: { readonly [name: string]: string };
  readonly limits: ManifestLimits;
  readonly service: {
    readonly profile?: string;
    readonly platformUrl?: string;
    readonly usersUrl?: string;
    readonly subscription?: string;
  };
  /** Ids of objects that the tenant's other manifests have made. */
  readonly boundElsewhere: readonly string[];
  /** Address of the state, without credentials. */
  readonly state: string;
}

/** The plan that an apply stays within. */
export interface Approved {
  readonly fingerprint: string;
  readonly document: PlanDocument;
  /** True if an earlier worker may have done a part of it. */
  readonly isResumed: boolean;
}

/** Messages to a thread. */
export type ToThread =
  | { readonly type: "plan"; readonly id: number; readonly order: Order }
  | { readonly type: "apply"; readonly id: number; readonly order: Order; readonly approved: Approved }
  | { readonly type: "stop"; readonly id: number };

/** An error that a thread has caught; the message holds no secret. */
export interface Failure {
  readonly code: string;
  readonly message: string;
  readonly hint?: string;
  readonly exitCode: number;
}

/** The result of an apply. `refused` is the plan that went beyond the approved one, with the reason: nothing was applied. */
export type Applied =
  | { readonly exitCode: number; readonly reasons: readonly string[] }
  | { readonly refused: PlanDocument; readonly why: string };

/** Messages of a thread. */
export type FromThread =
  | { readonly type: "event"; readonly id: number; readonly event: ApplyEvent }
  | { readonly type: "planned"; readonly id: number; readonly plan: PlanDocument }
  | { readonly type: "applied"; readonly id: number; readonly applied: Applied }
  | { readonly type: "failed"; readonly id: number; readonly failure: Failure };
