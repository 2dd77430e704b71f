/** @module Takes the webhooks of GitHub and GitLab: a push asks for runs of the manifests with that address and ref. */
import { createHmac, timingSafeEqual } from "node:crypto";
import { type SqlBool, sql } from "kysely";
import { readSecret, type SecretSource } from "../../../index.ts";
import { digestOf } from "../../digest.ts";
import { requestRun } from "../../runs/decide.ts";
import { objectIn } from "../checks.ts";
import type { ApiContext, Endpoint, Handlers } from "../endpoint.ts";
import { Problem } from "../problem.ts";

/** Ms that a secret is remembered. */
const secretAge = 60_000;

/** A sender: its headers of the signature and of the event, and the fields in which it names a repository. */
const senders = [
  {
    name: "github",
    signature: "x-hub-signature-256",
    expected: (secret: string, bytes: Buffer) =>
      `sha256=${createHmac("sha256", secret).update(bytes).digest("hex")}`,
    event: "x-github-event",
    push: /^push$/,
    repository: "repository",
    urls: ["clone_url", "ssh_url", "git_url", "html_url"],
  },
  {
    name: "gitlab",
    signature: "x-gitlab-token",
    expected: (secret: string) => secret,
    event: "x-gitlab-event",
    push: /^(Tag )?Push Hook$/,
    repository: "project",
    urls: ["git_http_url", "git_ssh_url", "web_url"],
  },
] as const;
type Sender = (typeof senders)[number];

export const hookHandlers: Handlers = Object.fromEntries(
  senders.map((sender): readonly [string, Handlers[string]] => [
    `${sender.name}Hook`,
    async ({ context, headers, bytes }) => {
      const source = context.config.current().hooks[sender.name];
      if (source === undefined) throw new Problem("not-found");
      const secret = await secretOf(sender.name, source);
      if (secret === "" || !isSame(headers.get(sender.signature) ?? "", sender.expected(secret, bytes)))
        throw new Problem("invalid-signature");
      if (sender.push.test(headers.get(sender.event) ?? "")) await askForRuns(context, sender, bytes);
      return { result: "accepted" };
    },
  ]),
);

/** Refuses a webhook before its body is read if the configuration does not name its sender, or if it has no signature. */
export function assertExpected({ id }: Endpoint, { config }: ApiContext, headers: Headers): void {
  const sender = senders.find(({ name }) => id === `${name}Hook`);
  if (sender === undefined) return;
  if (config.current().hooks[sender.name] === undefined) throw new Problem("not-found");
  if (!headers.has(sender.signature)) throw new Problem("invalid-signature");
}

/** Secrets as they were read last: what anybody may send must not run a command each time. */
const known = new WeakMap<SecretSource, { readonly at: number; readonly secret: Promise<string> }>();

async function secretOf(name: string, source: SecretSource): Promise<string> {
  const last = known.get(source);
  if (last !== undefined && performance.now() - last.at < secretAge) return last.secret;
  const secret = readSecret(`hooks.${name}`, source);
  known.set(source, { at: performance.now(), secret });
  return secret;
}

/** Asks for a run of each manifest that the push may have changed, but for those that are paused. */
async function askForRuns(
  context: ApiContext,
  { name, repository, urls }: Sender,
  bytes: Buffer,
): Promise<void> {
  const push = objectIn(bytes);
  if (push === undefined) throw new Problem("invalid-json");
  const project = push[repository] ?? {};
  const long = field(push, "ref");
  const short = long.replace(/^refs\/(heads|tags)\//, "");
  const refs = [long, short, ...(field(project, "default_branch") === short ? ["HEAD"] : [])];
  const plain = (url: string): string => url.toLowerCase().replace(/(\.git)?\/?$/, "");
  const addresses = urls.map((key) => plain(field(project, key))).filter((url) => url !== "");
  if (addresses.length === 0 || short === "") return;
  const found = await context.database
    .selectFrom("manifests")
    .select("id")
    .where("removed_at", "is", null)
    .where(sql<SqlBool>`source->>'type' = 'git' AND source->>'ref' = ANY(${refs})`)
    .where(sql<SqlBool>`lower(regexp_replace(source->>'url', '(\\.git)?/?$', '')) = ANY(${addresses})`)
    .where(sql<SqlBool>`(paused_until IS NULL OR paused_until < clock_timestamp())`)
    .execute();
  const asking = { kind: "reconcile", trigger: "webhook", actor: `the webhook of ${name}` } as const;
  for (const { id } of found) await requestRun(context, { ...asking, id });
}

/** A text of an object, without what PostgreSQL does not take; empty if there is none. */
function field(object: unknown, name: string): string {
  const value: unknown =
    typeof object === "object" && object !== null ? Reflect.get(object, name) : undefined;
  return typeof value === "string" ? value.replaceAll("\0", "") : "";
}

/** Compares in a time that does not depend on the texts. */
function isSame(given: string, expected: string): boolean {
  return timingSafeEqual(digestOf(given), digestOf(expected));
}
