/** @module Asks whether the commit of a pipeline is still the newest one of its branch. */
import { systemClock } from "../../model/clock.ts";
import { exitCodes, GraphformError } from "../../model/errors.ts";
import { withinLimit } from "../../model/time-limit.ts";
import type { Settings } from "../../project/settings.ts";
import type { PlannedCommit } from "../../state/plan-file.ts";
import { exchange } from "./forge-request.ts";

/** The commit that this job runs for; undefined outside of a pipeline, and for a tag, which stands still. */
export function commitOfJob(settings: Settings): PlannedCommit | undefined {
  const branch = settings.get("CI_COMMIT_BRANCH");
  const given =
    settings.get("GITHUB_ACTIONS") === "true"
      ? {
          repository: `${settings.get("GITHUB_SERVER_URL") ?? ""}/${settings.get("GITHUB_REPOSITORY") ?? ""}`,
          ref: settings.get("GITHUB_REF"),
          commit: settings.get("GITHUB_SHA"),
        }
      : {
          repository: settings.get("CI_PROJECT_URL"),
          ref: branch === undefined ? settings.get("CI_MERGE_REQUEST_REF_PATH") : `refs/heads/${branch}`,
          commit: settings.get("CI_COMMIT_SHA"),
        };
  const { repository, ref, commit } = given;
  if (repository === undefined || ref === undefined || commit === undefined) return undefined;
  return /^https?:\/\/[^/]/.test(repository) && !ref.startsWith("refs/tags/")
    ? { repository, ref, commit }
    : undefined;
}

/** Throws `plan-superseded` if the branch shows another commit by now, `forge-` errors without an answer. Asks only in jobs of its repository. */
export async function assertNewest(
  planned: PlannedCommit | undefined,
  settings: Settings,
  { patience, signal }: { readonly patience?: number | undefined; readonly signal?: AbortSignal } = {},
): Promise<void> {
  if (planned === undefined || commitOfJob(settings)?.repository !== planned.repository) return;
  const { ref, commit } = planned;
  const newest = await withinLimit(
    { clock: systemClock, patience, signal },
    (stop) => commitAt(planned, settings, stop),
    (words) =>
      new GraphformError(
        "forge-unreachable",
        `${words} from ${planned.repository}, which knows the newest commit`,
      ),
  );
  if (newest === commit) return;
  const branch = ref.replace(/^refs\/(?:heads\/)?/, "");
  const now = newest === "" ? "is gone" : `is at ${newest.slice(0, 12)} by now`;
  const message = `this plan was made from the commit ${commit.slice(0, 12)} of ${branch}, which ${now}`;
  const hint = "approve the plan of the newest commit: this one leaves out, or takes back, what came later";
  throw new GraphformError("plan-superseded", message, { hint, exitCode: exitCodes.stale });
}

/** The commit that a ref of a repository shows, asked as git does (protocol version 2, ls-refs); empty if there is no such ref. */
function commitAt(
  { repository, ref }: PlannedCommit,
  settings: Settings,
  signal: AbortSignal,
): Promise<string> {
  const isGithub = settings.get("GITHUB_ACTIONS") === "true";
  const token = settings.get(isGithub ? "GITHUB_TOKEN" : "CI_JOB_TOKEN");
  const login = `${isGithub ? "x-access-token" : "gitlab-ci-token"}:${token}`;
  const type = "application/x-git-upload-pack";
  return exchange(
    {
      base: repository,
      hide: settings.secrets.hide,
      hint: isGithub
        ? "give the step `env: { GITHUB_TOKEN: ${{ github.token }} }`, and the job `permissions: { contents: read }`"
        : "the token of the job reads the repository: check CI_JOB_TOKEN and CI_PROJECT_URL",
      headers: {
        ...(token === undefined ? {} : { authorization: `Basic ${Buffer.from(login).toString("base64")}` }),
        "content-type": `${type}-request`,
        accept: `${type}-result`,
        "git-protocol": "version=2",
        "user-agent": "git/2 (graphform)",
      },
      ...{ clock: systemClock, signal },
    },
    {
      method: "POST",
      path: ".git/git-upload-pack",
      body: `${packet("command=ls-refs\n")}0001${packet(`ref-prefix ${ref}\n`)}0000`,
      isRead: true,
    },
    (text) => commitIn(text, ref),
  );
}

/** The commit that the list of an answer has for a ref, empty if it has none; undefined if it is no list. */
function commitIn(answer: string, ref: string): string | undefined {
  const bytes = Buffer.from(answer);
  let found = "";
  for (let at = 0; at < bytes.length; ) {
    const size = bytes.toString("latin1", at, at + 4);
    // This ends the list.
    if (size === "0000") return found;
    const length = /^[0-9a-f]{4}$/.test(size) ? Number.parseInt(size, 16) : 0;
    if (length < 4) return undefined;
    const [, commit = "", name] =
      /^([0-9a-f]{40,64}) ([^\n]+)/.exec(bytes.toString("utf8", at + 4, at + length)) ?? [];
    if (name === ref) found = commit;
    at += length;
  }
  return undefined;
}

/** One line of git's protocol: its length in four hexadecimal digits stands before it. */
function packet(line: string): string {
  return `${(Buffer.byteLength(line) + 4).toString(16).padStart(4, "0")}${line}`;
}
