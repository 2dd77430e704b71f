export { kinds } from "./kinds/index.ts";
export type { Desired } from "./model/desired.ts";
export { type ExitCode, exitCodes, GraphformError, ManifestError, ServiceError } from "./model/errors.ts";
export type { FieldSchema, KindSchema } from "./model/field-schema.ts";
export type { Driver, Kind, Reader } from "./model/kind.ts";
export type { Manifest } from "./model/manifest.ts";
export type { Live, Observed } from "./model/observed.ts";
export type { ApplyEvent, StepOutcome } from "./model/outcome.ts";
export type { Change, Plan, Step } from "./model/plan.ts";
export type { Problem } from "./model/problem.ts";
export type { StateDocument } from "./model/state.ts";
export { hasChanges } from "./plan/plan.ts";
export {
  type ApplyWorld,
  applyPlan,
  type Intention,
  type Planned,
  type PlanningWorld,
  planFor,
} from "./reconcile.ts";
