/** @module Defines the input that `plan`, `drift` and `apply` share. */
import type { PlanOptions } from "../plan/input.ts";
import type { LoadedManifest } from "./load-manifest.ts";
import type { OpenService } from "./open-service.ts";
import type { OpenState } from "./open-state.ts";

/** Input that `plan`, `drift` and `apply` share. */
export interface PlanRequest extends Partial<PlanOptions> {
  readonly manifest: LoadedManifest;
  readonly service: OpenService;
  readonly state: OpenState;
  /** True to plan the deletion of every resource of the state. */
  readonly destroying?: boolean;
  /** False to ask no running database. Default: true. */
  readonly probe?: boolean;
  /** Ends all waiting; requests in flight finish and are recorded. */
  readonly signal?: AbortSignal;
}
