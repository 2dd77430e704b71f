/** @module Runs `ci comment` and `ci issue`: shows a report in one comment on the proposed change, or in one issue that closes itself. */
import { readFile } from "node:fs/promises";
import { type Clock, systemClock } from "../../model/clock.ts";
import { exitCodes, GraphformError } from "../../model/errors.ts";
import { marker, withoutMarker } from "../../report/markdown/within-budget.ts";
import { escapeText } from "../../report/typeset.ts";
import type { Invocation } from "../with-run.ts";
import { repeatLost } from "./forge-request.ts";
import { type Forge, forgeOf, type Post } from "./forges.ts";

interface CommentOptions {
  /** Stands in the marker, and in the title of an issue; default: the name of the manifest. */
  readonly key?: string;
}

interface IssueOptions extends CommentOptions {
  /** Exit code of `drift`; empty if the step did not come to an end. */
  readonly exitcode: string;
}

/** `clock` is that of the pauses between attempts. */
type CiInvocation<O> = Invocation<O> & { readonly clock?: Clock };

/** Limit of GitHub for a comment or an issue, in characters; GitLab takes more. */
const maxCharacters = 65_536;

const label = "graphform-drift";

/** `ci comment`: updates the comments with the report's marker, or adds one if there is none. */
export async function comment(invocation: CiInvocation<CommentOptions>, file: string): Promise<number> {
  const { options, settings, terminal, clock = systemClock } = invocation;
  const { key } = options;
  const forge = await forgeOf(settings, clock);
  const missing =
    "**The plan could not be made, and there is no report of it.** The log of the run says why.";
  const { isOurs, body } = await readReport(file, "plan", key, forge, missing);
  const earlier = await repeatLost(async () => {
    const found = (await forge.comments()).filter(isOurs);
    if (found.length === 0) await forge.addComment(body);
    for (const { id } of found) await forge.editComment(id, body);
    return found;
  }, clock);
  terminal.out(`The comment was ${earlier.length === 0 ? "added" : "updated"}.\n`);
  return exitCodes.done;
}

/** `ci issue`: opens or updates the issue unless `drift` exited with 0, and closes it then. One that a person closed stays closed. */
export async function issue(invocation: CiInvocation<IssueOptions>, file: string): Promise<number> {
  const { options, settings, terminal, clock = systemClock } = invocation;
  const { exitcode, key } = options;
  const forge = await forgeOf(settings, clock);
  const ended = exitcode === "" ? "did not come to an end" : `ended with exit code ${exitcode}`;
  const missing = `**graphform drift ${ended}, and there is no report of it.** The log of the run says why.`;
  const { isOurs, body } = await readReport(file, "drift", key, forge, missing);
  const of = key === undefined ? "" : ` of ${escapeText(key, 100)}`;
  const title = exitcode === "2" || exitcode === "0" ? `Drift${of}` : `Drift${of} is not known`;
  const isOver = exitcode === "0";
  const earlier = await repeatLost(async () => {
    const found = (await forge.openIssues(label)).filter(isOurs);
    if (found.length === 0 && !isOver) await forge.addIssue({ title, body }, label);
    for (const { id } of found) await forge.editIssue(id, { title, body }, isOver ? "closed" : "open");
    return found;
  }, clock);
  const none = isOver ? "No drift, and no open issue." : "The issue was opened.";
  const numbers = earlier.map(({ id }) => `#${id}`).join(", ");
  terminal.out(earlier.length === 0 ? `${none}\n` : `${isOver ? "Closed" : "Updated"} ${numbers}.\n`);
  return exitCodes.done;
}

/**
 * The text of a report, or `missing` in its place, under its marker, with a link to the run, and the check that finds earlier posts. With
 * `key` instead of the manifest's name an invalid manifest, whose name is not known, updates the same post.
 */
async function readReport(
  file: string,
  kind: "plan" | "drift",
  key: string | undefined,
  { run }: Pick<Forge, "run">,
  missing: string,
): Promise<{ readonly body: string; readonly isOurs: (post: Post) => boolean }> {
  const text = await readFile(file, "utf8").catch(() => undefined);
  const [, own] = /^(<!-- graphform:[^\n]* -->)\n/.exec(text ?? "") ?? [];
  const first = key === undefined ? (own ?? marker(kind, "")) : marker(kind, key);
  const commit = run?.commit === undefined ? "" : ` of ${run.commit.slice(0, 12)}`;
  const foot = run === undefined ? [] : [`[Run${commit}](${run.url})`];
  const body = `${[first, withoutMarker(text ?? missing).trimEnd(), ...foot].join("\n\n")}\n`;
  if (body.length > maxCharacters)
    throw new GraphformError("report-too-long", `${file} has more than ${maxCharacters} characters`, {
      hint: "post the file that --markdown writes: it is short enough",
    });
  return { body, isOurs: (post) => post.body.split(/\r?\n/, 1)[0]?.trimEnd() === first };
}
