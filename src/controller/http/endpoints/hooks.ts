/** @module Takes the webhooks of GitHub and GitLab: a push asks for runs of the manifests with that address and ref. */
import { createHash, createHmac, timingSafeEqual } from "node:crypto";
import { type SqlBool, sql } from "kysely";
import { readSecret } from "../../../index.ts";
import { requestRun } from "../../runs/decide.ts";
import { ref } from "../documents.ts";
import { type Call, type Endpoint, endpoint, json, type World } from "../endpoint.ts";
import { Problem } from "../problem.ts";

/** Bytes of a webhook. */
const maxHook = 8 * 1024 * 1024;

type Fields = { readonly [field: string]: unknown };

/** A sender: how it signs, which events are pushes, and the fields in which it names a repository. */
interface Sender {
  readonly name: "github" | "gitlab";
  isSigned(call: Call, secret: string): boolean;
  isPush(headers: Headers): boolean;
  readonly repository: string;
  readonly urls: readonly string[];
}

const github: Sender = {
  name: "github",
  isSigned({ headers, bytes }, secret) {
    const expected = `sha256=${createHmac("sha256", secret).update(bytes).digest("hex")}`;
    return isSame(headers.get("x-hub-signature-256") ?? "", expected);
  },
  isPush: (headers) => headers.get("x-github-event") === "push",
  repository: "repository",
  urls: ["clone_url", "ssh_url", "git_url", "html_url"],
};

const gitlab: Sender = {
  name: "gitlab",
  isSigned: ({ headers }, secret) => isSame(headers.get("x-gitlab-token") ?? "", secret),
  isPush: (headers) => /^(Tag )?Push Hook$/.test(headers.get("x-gitlab-event") ?? ""),
  repository: "project",
  urls: ["git_http_url", "git_ssh_url", "web_url"],
};

export const hookEndpoints: readonly Endpoint[] = [github, gitlab].map((sender) =>
  endpoint({
    id: `${sender.name}Hook`,
    method: "POST",
    path: `/hooks/${sender.name}`,
    summary: `Takes the webhooks of ${sender.name === "github" ? "GitHub" : "GitLab"}, which sign themselves`,
    role: "public",
    body: "bytes",
    maxBody: maxHook,
    answers: { 202: ref("Done") },
    async handle(call) {
      const { world, headers, bytes } = call;
      const source = world.config.current().hooks[sender.name];
      if (source === undefined) throw new Problem("not-found");
      const secret = await readSecret(`hooks.${sender.name}`, source);
      if (secret === "" || !sender.isSigned(call, secret)) throw new Problem("invalid-signature");
      if (sender.isPush(headers)) await askForRuns(world, sender, bytes);
      return json(202, { result: "accepted" });
    },
  }),
);

/** Asks for a run of each manifest that the push may have changed, but for those that are paused. */
async function askForRuns(world: World, { name, repository, urls }: Sender, bytes: Buffer): Promise<void> {
  const push = fieldsIn(bytes);
  const about = asFields(push["repository"] ?? {});
  const project = repository === "repository" ? about : asFields(push[repository] ?? {});
  const addresses = urls
    .map((key) => project[key])
    .filter((url) => typeof url === "string")
    .map(plainUrl);
  const long = typeof push["ref"] === "string" ? push["ref"] : "";
  const short = long.replace(/^refs\/(heads|tags)\//, "");
  const refs = [long, short, ...(project["default_branch"] === short ? ["HEAD"] : [])];
  if (addresses.length === 0 || short === "") return;
  const found = await world.database
    .selectFrom("manifests")
    .select("id")
    .where("removed_at", "is", null)
    .where(sql<SqlBool>`source->>'type' = 'git' AND source->>'ref' = ANY(${refs})`)
    .where(sql<SqlBool>`lower(regexp_replace(source->>'url', '(\\.git)?/?$', '')) = ANY(${addresses})`)
    .where(sql<SqlBool>`(paused_until IS NULL OR paused_until < clock_timestamp())`)
    .execute();
  for (const { id } of found)
    await requestRun(world, id, { kind: "reconcile", trigger: "webhook", actor: `the webhook of ${name}` });
}

function fieldsIn(bytes: Buffer): Fields {
  try {
    return asFields(JSON.parse(bytes.toString("utf8")));
  } catch {
    throw new Problem("invalid-json");
  }
}

function asFields(value: unknown): Fields {
  return typeof value === "object" && value !== null ? { ...value } : {};
}

/** An address as it is compared: without an ending of its own. */
function plainUrl(url: string): string {
  return url
    .replaceAll("\0", "")
    .toLowerCase()
    .replace(/(\.git)?\/?$/, "");
}

/** Compares in a time that does not depend on the texts. */
function isSame(given: string, expected: string): boolean {
  const digest = (text: string): Buffer => createHash("sha256").update(text).digest();
  return timingSafeEqual(digest(given), digest(expected));
}
