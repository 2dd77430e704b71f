/** @module Reads and writes comments and issues on the forge whose pipeline this process runs in: GitHub or GitLab. */
import { readFile } from "node:fs/promises";
import type { Clock } from "../../model/clock.ts";
import { GraphformError } from "../../model/errors.ts";
import { isObject, type Json, type JsonObject, objectIn } from "../../model/json.ts";
import type { Settings } from "../../project/settings.ts";
import { type Api, allPages, apiAt, unreadable } from "./forge-request.ts";

/** A comment, or an issue by its number, by an author who can be trusted: it is ours if its first line has our marker. */
export interface Post {
  readonly id: number;
  readonly body: string;
}

interface IssueText {
  readonly title: string;
  readonly body: string;
}

/** The part of a forge's API that reports go through. Every call rejects with a `forge-` error. */
export interface Forge {
  /** Link to the run of the pipeline, and the commit that it is about. Undefined outside of a pipeline. */
  readonly run: { readonly url: string; readonly commit: string | undefined } | undefined;
  /** Comments on the proposed change, oldest first, by authors who can be trusted. */
  comments(): Promise<readonly Post[]>;
  addComment(body: string): Promise<unknown>;
  editComment(id: number, body: string): Promise<unknown>;
  /** Open issues with the label, oldest first, by authors who can be trusted. */
  openIssues(label: string): Promise<readonly Post[]>;
  addIssue(issue: IssueText, label: string): Promise<unknown>;
  editIssue(id: number, issue: IssueText, state: "open" | "closed"): Promise<unknown>;
}

/** GitHub or GitLab, whichever has set its variables. Throws `forge-unknown` outside of a pipeline, or `forge-settings`. */
export async function forgeOf(settings: Settings, clock: Clock): Promise<Forge> {
  if (settings.get("GITHUB_ACTIONS") === "true") return github(settings, clock);
  if (settings.get("GITLAB_CI") === "true") return gitlab(settings, clock);
  throw new GraphformError("forge-unknown", "this is neither a job of GitHub Actions nor one of GitLab", {
    hint: "GITHUB_ACTIONS or GITLAB_CI is true there",
  });
}

/** Differences between the two APIs, as far as reports meet them. */
interface Dialect {
  /** Comments of the proposed change. Throws `forge-no-change` if the job does not run for one. */
  readonly comments: () => string;
  readonly comment: (id: number) => string;
  readonly issues: string;
  /** Queries for comments and for open issues, oldest first. */
  readonly queries: { readonly comments: string; readonly issues: string };
  /** Key of an issue's number, and of its text. */
  readonly keys: { readonly number: string; readonly text: string };
  readonly edit: "PATCH" | "PUT";
  /** The key that closes an issue or keeps it open. */
  readonly state: (state: "open" | "closed") => JsonObject;
  readonly labels: (label: string) => Json;
  /** Makes the check of an entry's author: any other person could put our marker into a text of their own. */
  readonly trusts: () => Promise<(entry: JsonObject) => boolean>;
}

function forge(api: Api, dialect: Dialect, run: Forge["run"]): Forge {
  const { comments, comment, issues, queries, keys, edit, state, labels } = dialect;
  const posts = async (path: string, key: string, text: string): Promise<readonly Post[]> => {
    const [entries, isTrusted] = [await allPages(api, path), await dialect.trusts()];
    return entries.filter(isTrusted).flatMap((entry) => {
      const [id, body] = [entry[key], entry[text]];
      return typeof id === "number" && typeof body === "string" ? [{ id, body }] : [];
    });
  };
  const fields = ({ title, body }: IssueText): JsonObject => ({ title, [keys.text]: body });
  return {
    run,
    comments: async () => posts(`${comments()}?${queries.comments}`, "id", "body"),
    addComment: async (body) => api("POST", comments(), { body }),
    editComment: (id, body) => api(edit, comment(id), { body }),
    openIssues: (label) =>
      posts(`${issues}?${queries.issues}&labels=${encodeURIComponent(label)}`, keys.number, keys.text),
    addIssue: (issue, label) => api("POST", issues, { ...fields(issue), labels: labels(label) }),
    editIssue: (id, issue, to) => api(edit, `${issues}/${id}`, { ...fields(issue), ...state(to) }),
  };
}

const permissions =
  "give the job `permissions: { contents: read, pull-requests: write, issues: write }`, and the step GITHUB_TOKEN";

const ofFork =
  "the pull request comes from a fork, whose jobs get a token that may only read: the summary of the run has the report";

/** People who may write to the repository. Apps are trusted, too. */
const writers: readonly Json[] = ["OWNER", "MEMBER", "COLLABORATOR"];

async function github(settings: Settings, clock: Clock): Promise<Forge> {
  const token = settings.get("GITHUB_TOKEN");
  const repository = settings.get("GITHUB_REPOSITORY");
  if (token === undefined || repository === undefined)
    throw new GraphformError("forge-settings", "GITHUB_TOKEN or GITHUB_REPOSITORY is not set", {
      hint: "give the step `env: { GITHUB_TOKEN: ${{ github.token }} }`",
    });
  // Empty if the event that began the run cannot be read.
  const eventPath = settings.get("GITHUB_EVENT_PATH") ?? "";
  const event = objectIn(await readFile(eventPath, "utf8").catch(() => "")) ?? {};
  const pull = isObject(event["pull_request"]) ? event["pull_request"] : undefined;
  const head = isObject(pull?.["head"]) ? pull["head"] : undefined;
  // The repository of a fork may be gone.
  const source = head?.["repo"] ?? null;
  const isFromFork = head !== undefined && (!isObject(source) || source["full_name"] !== repository);
  const api = apiAt({
    base: settings.get("GITHUB_API_URL") ?? "https://api.github.com",
    headers: { authorization: `Bearer ${token}`, "x-github-api-version": "2022-11-28" },
    hint: isFromFork ? ofFork : permissions,
    clock,
    hide: settings.secrets.hide,
  });
  const issues = `/repos/${repository.split("/").map(encodeURIComponent).join("/")}/issues`;
  const [server, run] = [settings.get("GITHUB_SERVER_URL"), settings.get("GITHUB_RUN_ID")];
  const commit = typeof head?.["sha"] === "string" ? head["sha"] : settings.get("GITHUB_SHA");
  const url = `${server}/${repository}/actions/runs/${run}`;
  return forge(
    api,
    {
      comments: () => `${issues}/${pullRequest(settings, pull)}/comments`,
      comment: (id) => `${issues}/comments/${id}`,
      issues,
      queries: { comments: "", issues: "state=open&sort=created&direction=asc" },
      keys: { number: "number", text: "body" },
      edit: "PATCH",
      state: (state) => ({ state }),
      labels: (label) => [label],
      trusts:
        async () =>
        ({ user, author_association: association = null, pull_request: listed }) =>
          // Pull requests are listed with the issues.
          listed === undefined &&
          ((isObject(user) && user["type"] === "Bot") || writers.includes(association)),
    },
    server === undefined || run === undefined ? undefined : { url, commit },
  );
}

function pullRequest(settings: Settings, pull: JsonObject | undefined): number {
  const [, inRef] = /^refs\/pull\/(\d+)\//.exec(settings.get("GITHUB_REF") ?? "") ?? [];
  const number = inRef === undefined ? pull?.["number"] : Number(inRef);
  if (typeof number === "number") return number;
  throw new GraphformError("forge-no-change", "this job does not run for a pull request", {
    hint: "run the step where `github.event_name == 'pull_request'`",
  });
}

const rights =
  "GITLAB_TOKEN needs the scope api and the role Reporter: Settings, Access tokens, and Settings, CI/CD, Variables";

/** The job's own token may not write notes. */
function gitlab(settings: Settings, clock: Clock): Forge {
  const token = settings.get("GITLAB_TOKEN");
  const base = settings.get("CI_API_V4_URL");
  const project = settings.get("CI_PROJECT_ID");
  if (token === undefined || base === undefined || project === undefined) {
    const missing = token === undefined ? "GITLAB_TOKEN" : "CI_API_V4_URL or CI_PROJECT_ID";
    throw new GraphformError("forge-settings", `${missing} is not set`, { hint: rights });
  }
  const hide = settings.secrets.hide;
  const api = apiAt({ base, headers: { "private-token": token }, hint: rights, clock, hide });
  // In the pipeline of a fork the merge request belongs to another project, and its number means another one here.
  const target = encodeURIComponent(settings.get("CI_MERGE_REQUEST_PROJECT_ID") ?? project);
  const notes = (): string => `/projects/${target}/merge_requests/${mergeRequest(settings)}/notes`;
  const sorted = "sort=asc&order_by=created_at";
  const url = settings.get("CI_JOB_URL");
  return forge(
    api,
    {
      comments: notes,
      comment: (id) => `${notes()}/${id}`,
      issues: `/projects/${encodeURIComponent(project)}/issues`,
      queries: { comments: sorted, issues: `state=opened&scope=all&${sorted}` },
      keys: { number: "iid", text: "description" },
      edit: "PUT",
      state: (state) => (state === "closed" ? { state_event: "close" } : {}),
      labels: (label) => label,
      trusts: async () => {
        const user = await api("GET", "/user");
        if (!isObject(user) || typeof user["id"] !== "number") throw unreadable("/user");
        return ({ author }) => isObject(author) && author["id"] === user["id"];
      },
    },
    url === undefined ? undefined : { url, commit: settings.get("CI_COMMIT_SHA") },
  );
}

function mergeRequest(settings: Settings): string {
  const number = settings.get("CI_MERGE_REQUEST_IID");
  if (number !== undefined) return encodeURIComponent(number);
  throw new GraphformError("forge-no-change", "this job does not run for a merge request", {
    hint: 'run it where $CI_PIPELINE_SOURCE == "merge_request_event"',
  });
}
