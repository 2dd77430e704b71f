/** @module Writes comments and issues on GitHub. */
import { readFile } from "node:fs/promises";
import type { Clock } from "../../model/clock.ts";
import { GraphformError } from "../../model/errors.ts";
import { isObject, type Json, type JsonObject } from "../../model/json.ts";
import type { Settings } from "../../project/settings.ts";
import { type Api, allPages, apiAt } from "./api.ts";
import type { Forge, Post } from "./forge.ts";

const permissions =
  "give the job `permissions: { contents: read, pull-requests: write, issues: write }`, and the step GITHUB_TOKEN";

const ofFork =
  "the pull request comes from a fork, whose jobs get a token that may only read: the summary of the run has the report";

/**
 * Authors that may be believed: apps, and people who may write to the repository. Anybody can comment on a public pull request, and could put
 * our marker there to have an own text taken for the report.
 */
const believed: readonly Json[] = ["OWNER", "MEMBER", "COLLABORATOR"];

/** GitHub, as the variables of a job describe it. Throws `forge-settings`. */
export async function github(settings: Settings, clock: Clock): Promise<Forge> {
  const token = settings.get("githubToken");
  const repository = settings.get("githubRepository");
  if (token === undefined || repository === undefined) {
    throw new GraphformError("forge-settings", "GITHUB_TOKEN or GITHUB_REPOSITORY is not set", {
      hint: "give the step `env: { GITHUB_TOKEN: ${{ github.token }} }`",
    });
  }
  const event = await eventOf(settings);
  const api = apiAt({
    base: settings.get("githubApiUrl") ?? "https://api.github.com",
    headers: { authorization: `Bearer ${token}`, "x-github-api-version": "2022-11-28" },
    hint: isFromFork(event, repository) ? ofFork : permissions,
    clock,
    hide: settings.secrets.hide,
  });
  const repo = `/repos/${repository.split("/").map(encodeURIComponent).join("/")}`;
  return { name: "GitHub", run: runOf(settings, event, repository), ...postsOf(api, repo, settings, event) };
}

function postsOf(api: Api, repo: string, settings: Settings, event: JsonObject): Omit<Forge, "name" | "run"> {
  const pull = (): number => pullRequest(settings, event);
  return {
    comments: async () => believedPosts(await allPages(api, `${repo}/issues/${pull()}/comments?`), "id"),
    addComment: async (body) =>
      void (await api({ method: "POST", path: `${repo}/issues/${pull()}/comments`, body: { body } })),
    editComment: async (id, body) =>
      void (await api({ method: "PATCH", path: `${repo}/issues/comments/${id}`, body: { body } })),
    openIssues: async (label) => {
      const query = `state=open&sort=created&direction=asc&labels=${encodeURIComponent(label)}`;
      const found = await allPages(api, `${repo}/issues?${query}`);
      // Pull requests are listed with the issues.
      return believedPosts(
        found.filter((entry) => entry["pull_request"] === undefined),
        "number",
      );
    },
    addIssue: async (issue, label) =>
      void (await api({ method: "POST", path: `${repo}/issues`, body: { ...issue, labels: [label] } })),
    editIssue: async (id, issue, state) =>
      void (await api({ method: "PATCH", path: `${repo}/issues/${id}`, body: { ...issue, state } })),
  };
}

function believedPosts(entries: readonly JsonObject[], key: "id" | "number"): readonly Post[] {
  return entries.flatMap((entry) => {
    const { body, user, author_association: association } = entry;
    const isBot = isObject(user) && user["type"] === "Bot";
    const id = entry[key];
    if (typeof id !== "number" || typeof body !== "string") return [];
    return isBot || believed.includes(association ?? null) ? [{ id, body }] : [];
  });
}

/** Number of the pull request that the job runs for. Throws `forge-no-change` where it runs for none. */
function pullRequest(settings: Settings, event: JsonObject): number {
  const [, inRef] = /^refs\/pull\/(\d+)\//.exec(settings.get("githubRef") ?? "") ?? [];
  const inEvent = isObject(event["pull_request"]) ? event["pull_request"]["number"] : undefined;
  const number = inRef === undefined ? inEvent : Number(inRef);
  if (typeof number === "number") return number;
  throw new GraphformError("forge-no-change", "this job does not run for a pull request", {
    hint: "run the step where `github.event_name == 'pull_request'`",
  });
}

/** True for a pull request whose commits stand in another repository, or in one that is gone. */
function isFromFork({ pull_request: pull }: JsonObject, repository: string): boolean {
  if (!isObject(pull) || !isObject(pull["head"])) return false;
  const { repo = null } = pull["head"];
  return !isObject(repo) || repo["full_name"] !== repository;
}

function runOf(settings: Settings, event: JsonObject, repository: string): Forge["run"] {
  const [server, run] = [settings.get("githubServerUrl"), settings.get("githubRunId")];
  if (server === undefined || run === undefined) return undefined;
  const pull = event["pull_request"];
  const head = isObject(pull) && isObject(pull["head"]) ? pull["head"]["sha"] : undefined;
  return {
    url: `${server}/${repository}/actions/runs/${run}`,
    commit: typeof head === "string" ? head : settings.get("githubSha"),
  };
}

/** The event that began the run; empty where it cannot be read. */
async function eventOf(settings: Settings): Promise<JsonObject> {
  const file = settings.get("githubEventPath");
  if (file === undefined) return {};
  try {
    const event: unknown = JSON.parse(await readFile(file, "utf8"));
    return isObject(event) ? event : {};
  } catch {
    return {};
  }
}
