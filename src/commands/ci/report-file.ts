/** @module Reads a report in Markdown and writes it once into a comment or an issue. */
import { readFile } from "node:fs/promises";
import type { Clock } from "../../model/clock.ts";
import { GraphformError } from "../../model/errors.ts";
import { repeatRequest } from "../../network/repeat-request.ts";
import { marker, withoutMarker } from "../../report/markdown/within-budget.ts";
import { tries } from "./api.ts";
import type { Forge, Post } from "./forge.ts";
import { wasLost } from "./forge-error.ts";

/** Most characters of a comment or an issue on GitHub; GitLab takes more. */
const mostCharacters = 65_536;

/** A text to post. */
export interface ReportText {
  /** First line of the text: an earlier post is found by it. */
  readonly marker: string;
  readonly body: string;
}

/**
 * The text of a report under its marker, with a link to the run. `key` takes the place of the manifest's name in the marker, so that an
 * invalid manifest, whose name nobody knows, updates the same post. `missing` stands in for a report that was not written.
 */
export async function readReport(
  file: string,
  kind: "plan" | "drift",
  key: string | undefined,
  { run }: Pick<Forge, "run">,
  missing: string,
): Promise<ReportText> {
  const text = await readFile(file, "utf8").catch(() => undefined);
  const [, own] = /^(<!-- graphform:[^\n]* -->)\n/.exec(text ?? "") ?? [];
  const first = key === undefined ? (own ?? marker(kind, "")) : marker(kind, key);
  const commit = run?.commit === undefined ? "" : ` of ${run.commit.slice(0, 12)}`;
  const foot = run === undefined ? [] : [`[Run${commit}](${run.url})`];
  const body = `${[first, withoutMarker(text ?? missing).trimEnd(), ...foot].join("\n\n")}\n`;
  if (body.length > mostCharacters) {
    throw new GraphformError("report-too-long", `${file} has more than ${mostCharacters} characters`, {
      hint: "post the file that --markdown writes: it is short enough",
    });
  }
  return { marker: first, body };
}

/** True for a post with this marker in its first line. */
export function hasMarker({ body }: { readonly body: string }, wanted: string): boolean {
  return body.split(/\r?\n/, 1)[0]?.trimEnd() === wanted;
}

/** Requests about one post, which is found by its marker. */
interface OnePost {
  readonly find: () => Promise<readonly Post[]>;
  readonly add: () => Promise<void>;
  readonly edit: (earlier: readonly Post[]) => Promise<void>;
}

/**
 * Adds a post where there is none, and edits what is there. An addition whose answer was lost may have worked: it is looked for again
 * before it is repeated. Returns the posts that were edited.
 */
export function writeOnce({ find, add, edit }: OnePost, clock: Clock): Promise<readonly Post[]> {
  return repeatRequest(
    async () => {
      const earlier = await find();
      if (earlier.length === 0) await add();
      else await edit(earlier);
      return earlier;
    },
    { ...tries, passing: wasLost },
    clock,
  );
}
