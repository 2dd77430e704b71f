/** @module Runs `ci comment`: shows a report in one comment on the proposed change. */
import { type Clock, systemClock } from "../../model/clock.ts";
import { exitCodes } from "../../model/errors.ts";
import type { Settings } from "../../project/settings.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { hasMarker, readReport, writeOnce } from "./report-file.ts";
import { forgeOf } from "./this-forge.ts";

/** Options of `ci comment`. */
export interface CommentOptions {
  /** Stands in the marker of the comment; default: the name of the manifest. */
  readonly key?: string;
}

const missing = "**The plan could not be made, and there is no report of it.** The log of the run says why.";

/** `ci comment`: updates the comment with the report's marker, or adds it where there is none. Where there are several, all say the same. */
export async function comment(
  file: string,
  { key }: CommentOptions,
  settings: Settings,
  terminal: Terminal,
  clock: Clock = systemClock,
): Promise<number> {
  const forge = await forgeOf(settings, clock);
  const { marker, body } = await readReport(file, "plan", key, forge, missing);
  const earlier = await writeOnce(
    {
      find: async () => (await forge.comments()).filter((post) => hasMarker(post, marker)),
      add: () => forge.addComment(body),
      edit: async (posts) => {
        for (const { id } of posts) await forge.editComment(id, body);
      },
    },
    clock,
  );
  terminal.out(`The comment was ${earlier.length === 0 ? "added" : "updated"}.\n`);
  return exitCodes.done;
}
