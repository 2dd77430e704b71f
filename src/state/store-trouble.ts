/** @module Words the refusals of a state file, each with the remedy. */
import { fileTrouble } from "../files/file-trouble.ts";
import { GraphformError } from "../model/errors.ts";
import type { VersionId } from "./document.ts";

export function standsElsewhere(where: string, elsewhere: string, move: string): GraphformError {
  const message = `no state at ${where}, and there is one at ${elsewhere}: a second one would create everything once more`;
  const hint = `name it with --state '${elsewhere}', or ${move}`;
  return new GraphformError("state-elsewhere", message, { hint });
}

/** A lost state has left these files. */
export function stateGone(where: string, left: readonly ("backup" | "log")[]): GraphformError {
  const back = left.includes("backup")
    ? `put it back: cp '${where}.backup' '${where}'`
    : "put a copy of it in its place";
  const what = left.includes("backup") ? "its previous version" : "its log";
  const files = left.map((ending) => `'${where}.${ending}'`).join(" ");
  return new GraphformError("state-gone", `the state ${where} is gone, and ${what} is still there`, {
    hint: `${back}; or, to begin with nothing: rm ${files}`,
  });
}

/** A version beside a state that is newer than the state itself. */
export interface Newer {
  readonly serial: number;
  /** True if the backup has it, with its log. */
  readonly isBackedUp: boolean;
}

/** An older document stands in the place of a newer one: objects made since would be made again. */
export function stateOlder(
  where: string,
  { serial }: VersionId,
  { serial: newest, isBackedUp }: Newer,
): GraphformError {
  const file = isBackedUp ? `${where}.backup` : `${where}.log`;
  const back = isBackedUp
    ? `put the newer one back: cp '${where}.backup' '${where}'`
    : "put the newest copy in its place";
  const message = `the state ${where} is at version ${serial}, and ${file} knows version ${newest}: an older copy was put in its place`;
  const hint = `${back}; or, to go on with the older one: rm -f '${where}.backup' '${where}.log', and bind objects made since with graphform import`;
  return new GraphformError("state-older", message, { hint });
}

/** The refusal of a write that does not follow the stored version. */
export function conflict(where: string, next: VersionId, stored: VersionId | undefined): GraphformError {
  if (stored !== undefined && stored.lineage !== next.lineage)
    return conflicting(where, "replaced by one of another history");
  const found =
    stored === undefined
      ? "nothing is stored there"
      : stored.serial === next.serial
        ? "another program has written a version of that number"
        : `it is at version ${stored.serial} now`;
  const was = `version ${next.serial} was to be written, but ${found}`;
  return conflicting(where, `changed by another program: ${was}`);
}

/** The refusal to replace a version that is not the stored one any more. */
export function changedMeanwhile(where: string): GraphformError {
  return conflicting(where, "changed by another program meanwhile");
}

function conflicting(where: string, what: string): GraphformError {
  const hint = "nothing was overwritten; run the command again, it starts from what is stored";
  return new GraphformError("state-conflict", `the state ${where} was ${what}`, { hint });
}

export function unwritable(where: string, cause: unknown): GraphformError {
  const message = `the state ${where} could not be written: ${fileTrouble(cause)}`;
  const hint = "the version before is intact; make room or allow writing there, then run the command again";
  return new GraphformError("state-unwritable", message, { hint, cause });
}
