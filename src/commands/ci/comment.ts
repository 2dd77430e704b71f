/** @module Runs `ci comment`: shows a report in one comment on the proposed change. */
import { exitCodes } from "../../model/errors.ts";
import type { Settings } from "../../project/settings.ts";
import type { Terminal } from "../terminal.ts";
import { hasMarker, readReport } from "./report-file.ts";
import { forgeOf } from "./this-forge.ts";

/** Options of `ci comment`. */
export interface CommentOptions {
  /** Stands in the marker of the comment; default: the name of the manifest. */
  readonly key?: string;
}

const missing = "**The plan could not be made, and there is no report of it.** The log of the run says why.";

/** `ci comment`: updates the comment with the report's marker, or adds it where there is none. */
export async function comment(
  file: string,
  { key }: CommentOptions,
  settings: Settings,
  terminal: Terminal,
): Promise<number> {
  const forge = await forgeOf(settings);
  const { marker, body } = await readReport(file, "plan", key, forge, missing);
  const earlier = (await forge.comments()).find((post) => hasMarker(post, marker));
  if (earlier === undefined) await forge.addComment(body);
  else await forge.editComment(earlier.id, body);
  terminal.out(`The comment was ${earlier === undefined ? "added" : "updated"}.\n`);
  return exitCodes.done;
}
