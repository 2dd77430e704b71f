/** @module Describes one create on its way: as it is asked for, once it is announced, and once its object is known. */
import type { Step } from "../../model/plan.ts";
import type { CreateRound, Intent } from "../../model/state.ts";

/** A create, ready to be sent. */
export interface CreateRequest {
  /** The step, with the place of the object as requests need it. */
  readonly step: Step;
  /** Names the class: only creates with equal keys can be taken for each other. */
  readonly classKey: string;
  readonly intent: Omit<Intent, "round" | "startedAt">;
  /** Sends the request once and gives the new id. */
  readonly send: () => Promise<string>;
}

/** A create whose intent is durable: it may be sent. */
export interface AnnouncedCreate {
  readonly request: CreateRequest;
  readonly intent: Intent;
  readonly round: CreateRound;
}

/** An object that a create has made. */
export interface Created {
  readonly id: string;
  readonly intent: Intent;
  readonly round: CreateRound;
  /** Fields whose values may be those of another create, so that they have to be set. */
  readonly unsure: readonly string[];
}
