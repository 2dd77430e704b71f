/** @module One entry of a run's log. */
import type { ApplyEvent } from "../../index.ts";
import type { RunStatus } from "./transitions.ts";

/** An event of a run: a new state, something that its apply reported, or a sentence about the run itself. No secrets. */
export type RunEvent =
  | { readonly type: "status"; readonly from?: RunStatus; readonly to: RunStatus; readonly why?: string }
  | { readonly type: "note"; readonly message: string }
  | { readonly type: "apply"; readonly event: ApplyEvent };
