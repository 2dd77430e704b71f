/** @module Says what a program plans and applies. */
import type { PlanOptions } from "../plan/input.ts";
import type { LoadedManifest } from "./load-manifest.ts";
import type { OpenService } from "./open-service.ts";
import type { OpenState } from "./open-state.ts";

/** What `plan` and `apply` are asked for. */
export interface PlanRequest extends Partial<PlanOptions> {
  readonly manifest: LoadedManifest;
  readonly service: OpenService;
  readonly state: OpenState;
  /** True to plan the deletion of everything that the state binds. */
  readonly destroying?: boolean;
  /** Ends what is waited for; requests in flight are finished and recorded. */
  readonly signal?: AbortSignal;
}
