/** @module Defines the options of `drift`. */
import type { PlanOptions } from "../../plan/input.ts";
import type { ManifestOptions } from "../options.ts";

/** Files of reports that `drift` writes. */
export interface DriftReportOptions {
  readonly markdown?: string;
  readonly html?: string;
  readonly sarif?: string;
  readonly junit?: string;
  readonly prometheus?: string;
}

/** Options of `drift`. */
export interface DriftOptions extends ManifestOptions, DriftReportOptions {
  readonly target: readonly string[];
  readonly exclude: readonly string[];
  readonly json?: boolean;
  /** False for --no-probe. */
  readonly probe?: boolean;
  /** Lists objects that nobody declares; they count as drift. */
  readonly unmanaged?: boolean;
  /** Lists every difference, also those that do not matter. */
  readonly verbose?: boolean;
  /** Addresses, or fields of them, whose live values go into the manifest. */
  readonly adopt: readonly string[];
}

/** Converts the options of `drift` to options of the planner. */
export function planOptionsOf({ target, exclude }: DriftOptions): PlanOptions {
  return { targets: target, exclude, replace: [], allowDestroy: [] };
}
