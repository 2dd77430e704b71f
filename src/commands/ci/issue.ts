/** @module Runs `ci issue`: keeps one issue about drift, which closes itself. */
import { type Clock, systemClock } from "../../model/clock.ts";
import { exitCodes } from "../../model/errors.ts";
import type { Settings } from "../../project/settings.ts";
import { escapeText } from "../../report/escape.ts";
import type { Terminal } from "../terminal/terminal.ts";
import type { Post } from "./forge.ts";
import { hasMarker, readReport, writeOnce } from "./report-file.ts";
import { forgeOf } from "./this-forge.ts";

/** Options of `ci issue`. */
export interface IssueOptions {
  /** Exit code of `drift`; empty where the step did not come to an end. */
  readonly exitcode: string;
  /** Stands in the marker and in the title; default: the name of the manifest. */
  readonly key?: string;
}

/** Label by which issues are found. */
const label = "graphform-drift";

/**
 * `ci issue`: opens or updates the issue where `drift` found something or failed, and closes it where it exited with 0. An issue that a
 * person closed stays closed; the next drift opens a new one.
 */
export async function issue(
  file: string,
  { exitcode, key }: IssueOptions,
  settings: Settings,
  terminal: Terminal,
  clock: Clock = systemClock,
): Promise<number> {
  const forge = await forgeOf(settings, clock);
  const ended = exitcode === "" ? "did not come to an end" : `ended with exit code ${exitcode}`;
  const missing = `**graphform drift ${ended}, and there is no report of it.** The log of the run says why.`;
  const { marker, body } = await readReport(file, "drift", key, forge, missing);
  const of = key === undefined ? "" : ` of ${escapeText(key, 100)}`;
  const title = exitcode === "2" || exitcode === "0" ? `Drift${of}` : `Drift${of} is not known`;
  const find = async (): Promise<readonly Post[]> =>
    (await forge.openIssues(label)).filter((post) => hasMarker(post, marker));
  if (exitcode === "0") {
    const open = await find();
    for (const { id } of open) await forge.editIssue(id, { title, body }, "closed");
    const closed = open.map(({ id }) => `#${id}`).join(", ");
    terminal.out(open.length === 0 ? "No drift, and no open issue.\n" : `Closed ${closed}.\n`);
    return exitCodes.done;
  }
  const earlier = await writeOnce(
    {
      find,
      add: () => forge.addIssue({ title, body }, label),
      edit: async (posts) => {
        for (const { id } of posts) await forge.editIssue(id, { title, body }, "open");
      },
    },
    clock,
  );
  const updated = earlier.map(({ id }) => `#${id}`).join(", ");
  terminal.out(updated === "" ? "The issue was opened.\n" : `Updated ${updated}.\n`);
  return exitCodes.done;
}
