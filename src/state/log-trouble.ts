/** @module Words the refusals of a state whose log cannot be read with it, each with the way out. */
import { GraphformError } from "../model/errors.ts";
import type { VersionId } from "./document.ts";

/** The refusal of a state whose log is not there: what was acknowledged since may be lost. */
export function logGone(file: string, { serial }: VersionId): GraphformError {
  const message = `the state ${file} is not whole: what happened since version ${serial} is in ${file}.log, and that is gone`;
  return new GraphformError("state-log-gone", message, {
    hint: `put the log back, or a newer copy of the state; ${without(file)}`,
  });
}

/** The refusal of a state beside the log of another version of it, or of another state. */
export function logStray(file: string, state: VersionId, head: VersionId): GraphformError {
  const followed =
    head.lineage === state.lineage ? `version ${head.serial} of it` : "a version of another history";
  const message = `the log ${file}.log does not belong to the state ${file}: it follows ${followed}, and the state is at version ${state.serial}`;
  return new GraphformError("state-log-stray", message, {
    hint: `put both back from one copy; ${without(file)}`,
  });
}

/** The refusal of a log that is not as it was written; without a line, one that does not fit its document. */
export function logDamaged(file: string, line?: number): GraphformError {
  const at = line === undefined ? ": it does not fit the state" : ` in line ${line}`;
  const message = `the log ${file}.log of the state is damaged${at}`;
  const before = "put a whole copy of it in its place; to go on with what comes before";
  return new GraphformError("state-log-damaged", message, {
    hint:
      line === undefined || line === 1
        ? `put a whole copy of it in its place; ${without(file)}`
        : `${before}, remove that line and all after it, and bind what is missing with graphform import`,
  });
}

function without(file: string): string {
  return `to go on without what it holds, write "version": 2 in place of 3 in ${file}, and bind what is missing with graphform import`;
}
