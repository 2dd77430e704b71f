/** @module The library: plan, apply and validate from a program. */
export { type ApplyRequest, apply } from "./library/apply.ts";
export { type LoadedManifest, loadManifest, type ManifestRequest } from "./library/load-manifest.ts";
export { type OpenService, openService, type ServiceRequest } from "./library/open-service.ts";
export { type OpenState, openState } from "./library/open-state.ts";
export { plan } from "./library/plan.ts";
export type { PlanRequest } from "./library/plan-request.ts";
export { validate } from "./library/validate.ts";
export { type ExitCode, exitCodes, GraphformError, ManifestError, ServiceError } from "./model/errors.ts";
export type { ApplyEvent, Outcome, StepOutcome } from "./model/outcome.ts";
export type { Change, FieldChange, Guard, Plan, Step } from "./model/plan.ts";
export type { Problem } from "./model/problem.ts";
export type { StateDocument } from "./model/state.ts";
export { hasChanges } from "./plan/plan.ts";
