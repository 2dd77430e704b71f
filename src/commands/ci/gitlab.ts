/** @module Writes notes and issues on GitLab. */
import type { Clock } from "../../model/clock.ts";
import { GraphformError } from "../../model/errors.ts";
import { isObject, type JsonObject } from "../../model/json.ts";
import type { Settings } from "../../project/settings.ts";
import { allPages, apiAt, unreadable } from "./api.ts";
import type { Forge, Post } from "./forge.ts";

const rights =
  "GITLAB_TOKEN needs the scope api and the role Reporter: Settings, Access tokens, and Settings, CI/CD, Variables";

/** GitLab, as the variables of a job describe it. The job's own token may not write notes. Throws `forge-settings`. */
export function gitlab(settings: Settings, clock: Clock): Forge {
  const token = settings.get("gitlabToken");
  const base = settings.get("ciApiV4Url");
  const project = settings.get("ciProjectId");
  if (token === undefined || base === undefined || project === undefined) {
    const missing = token === undefined ? "GITLAB_TOKEN" : "CI_API_V4_URL or CI_PROJECT_ID";
    throw new GraphformError("forge-settings", `${missing} is not set`, { hint: rights });
  }
  const api = apiAt({
    base,
    headers: { "private-token": token },
    hint: rights,
    clock,
    hide: settings.secrets.hide,
  });
  const home = `/projects/${encodeURIComponent(project)}`;
  // In the pipeline of a fork the merge request stands in another project, and its number means another one here.
  const target = encodeURIComponent(settings.get("ciMergeRequestProjectId") ?? project);
  const notes = (): string => `/projects/${target}/merge_requests/${mergeRequest(settings)}/notes`;
  const own = async (): Promise<number> => {
    const user = await api({ method: "GET", path: "/user" });
    if (isObject(user) && typeof user["id"] === "number") return user["id"];
    throw unreadable("/user");
  };
  const url = settings.get("ciJobUrl");
  return {
    name: "GitLab",
    run: url === undefined ? undefined : { url, commit: settings.get("ciCommitSha") },
    comments: async () =>
      ownPosts(await allPages(api, `${notes()}?sort=asc&order_by=created_at`), await own(), "id", "body"),
    addComment: async (body) => void (await api({ method: "POST", path: notes(), body: { body } })),
    editComment: async (id, body) =>
      void (await api({ method: "PUT", path: `${notes()}/${id}`, body: { body } })),
    openIssues: async (label) => {
      const query = `state=opened&scope=all&sort=asc&order_by=created_at&labels=${encodeURIComponent(label)}`;
      const found = await allPages(api, `${home}/issues?${query}`);
      return ownPosts(found, await own(), "iid", "description");
    },
    addIssue: async ({ title, body }, label) =>
      void (await api({
        ...{ method: "POST", path: `${home}/issues` },
        body: { title, description: body, labels: label },
      })),
    editIssue: async (id, { title, body }, state) =>
      void (await api({
        ...{ method: "PUT", path: `${home}/issues/${id}` },
        body: { title, description: body, ...(state === "closed" ? { state_event: "close" } : {}) },
      })),
  };
}

/** Posts of the token's own user: anybody else could put our marker into a text of their own. */
function ownPosts(
  entries: readonly JsonObject[],
  own: number,
  key: "id" | "iid",
  text: "body" | "description",
): readonly Post[] {
  return entries.flatMap((entry) => {
    const { author } = entry;
    const [id, body] = [entry[key], entry[text]];
    if (typeof id !== "number" || typeof body !== "string") return [];
    return isObject(author) && author["id"] === own ? [{ id, body }] : [];
  });
}

function mergeRequest(settings: Settings): string {
  const number = settings.get("ciMergeRequestIid");
  if (number !== undefined) return encodeURIComponent(number);
  throw new GraphformError("forge-no-change", "this job does not run for a merge request", {
    hint: 'run it where $CI_PIPELINE_SOURCE == "merge_request_event"',
  });
}
