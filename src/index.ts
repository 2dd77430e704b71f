/** @module The library: plan, apply, look for drift, validate and format from a program. */
export {
  type DriftFormat,
  type FormatOptions,
  formatDrift,
  formatPlan,
  formatProblems,
  type PlanFormat,
  type ProblemFormat,
} from "./library/format.ts";
export {
  type LoadedManifest,
  loadManifest,
  type ManifestRequest,
  type OpenService,
  type OpenState,
  openService,
  openState,
  readSecret,
  type ServiceRequest,
  validate,
} from "./library/open.ts";
export {
  type ApplyRequest,
  apply,
  type DriftRequest,
  drift,
  type PlanOnlyRequest,
  type PlanRequest,
  plan,
  readPlan,
} from "./library/plan-and-apply.ts";
export {
  type RunStatement,
  type SharedLock,
  type SharedState,
  type SharedWrite,
  sharedState,
} from "./library/shared-state.ts";
export type * from "./model/address.ts";
export type { MigrationRules } from "./model/desired.ts";
export type * from "./model/drift.ts";
export {
  type ExitCode,
  exitCodes,
  GraphformError,
  ManifestError,
  type Position,
  type Problem,
  ServiceError,
  type ServiceFailure,
  type SourceRange,
} from "./model/errors.ts";
export { type Disruption, disruptions } from "./model/field-schema.ts";
export type * from "./model/json.ts";
export type { ManifestLimits, SecretSource } from "./model/manifest.ts";
export type { MigrationPhase, MigrationTerms, Rehearsed } from "./model/migration.ts";
export type { Phase, PhaseName, Source } from "./model/observed.ts";
export type * from "./model/outcome.ts";
export type * from "./model/plan.ts";
export { hasChanges } from "./model/plan.ts";
export type { NotProbed } from "./model/probe.ts";
export type { ManifestIdentity, ServiceIdentity } from "./model/service-identity.ts";
export type { Spec } from "./model/spec.ts";
export type * from "./model/state.ts";
export { type SchemaError, violatedPath, violationText } from "./model/violation.ts";
