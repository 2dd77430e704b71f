/** @module Adds, changes and removes database users, in the record and in the running database. */
import { createHash } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { isFileError } from "../../files/file-trouble.ts";
import type { JsonObject } from "../../model/json.ts";
import type { Core } from "../core.ts";
import { isRefusal } from "../databases/database-users.ts";
import { isReserved, splitRules, tenantRules } from "../engine/index.ts";
import { inTurn } from "../in-turn.ts";
import { firstUserOf, type InstanceRecord, type UserRecord } from "../model/records.ts";
import { ServiceError } from "../model/service-error.ts";
import { untilWritten } from "./record-state.ts";

/** Attempts to reach a database that runs and does not answer, and the pause between them in ms. */
const attempts = 3;
const pause = 100;

/** Time that an answer waits for a refused change to be undone, in ms. On a full disk the undoing continues after the answer. */
const rollbackWait = 2000;

/** Users of an instance without passwords, the instance's own user first. */
export function listUsers(record: InstanceRecord): readonly JsonObject[] {
  return [
    { username: firstUserOf(record), acl: tenantRules.join(" ") },
    ...record.users.map(({ username, acl }) => ({ username, acl })),
  ];
}

/**
 * Adds a user (409 for an existing name) or changes one (500 for an unknown name, as the real host). The engine checks the rules: in
 * the running database, or in a temporary one where none runs.
 */
export async function putUser(
  core: Core,
  id: string,
  username: string,
  wanted: WantedUser,
  isNew: boolean,
): Promise<void> {
  // One at a time: each change depends on the users that the previous one left.
  return inTurn(`users ${id}`, () => putUserNow(core, id, username, wanted, isNew));
}

interface WantedUser {
  readonly password?: string | undefined;
  readonly acl?: string | undefined;
}

async function putUserNow(
  core: Core,
  id: string,
  username: string,
  wanted: WantedUser,
  isNew: boolean,
): Promise<void> {
  const refused = refusedRules(wanted.acl ?? "");
  if (refused.length > 0)
    throw new ServiceError(400, `ACL contains what is not allowed: ${refused.join(", ")}`);
  const before = findUser(core, id, username, isNew);
  if (wanted.acl !== undefined && wanted.acl !== before?.acl && !core.databases.serves(id))
    await checkRules(core, wanted.acl);
  // The record may have changed during the check.
  const known = findUser(core, id, username, isNew);
  const user: UserRecord = {
    username,
    passwordHash: wanted.password === undefined ? (known?.passwordHash ?? "") : sha256(wanted.password),
    acl: wanted.acl ?? known?.acl ?? "",
  };
  await replaceUser(core, id, known, user);
  core.events.add(id, `database user ${username} ${isNew ? "created" : "changed"}`);
}

/** Removes a user: 403 for the instance's own user, 500 for an unknown name, as the real host. */
export async function dropUser(core: Core, id: string, username: string): Promise<void> {
  return inTurn(`users ${id}`, () => dropUserNow(core, id, username));
}

async function dropUserNow(core: Core, id: string, username: string): Promise<void> {
  const record = recordOf(core, id);
  if (firstUserOf(record) === username)
    throw new ServiceError(403, "the instance's own user cannot be deleted");
  const known = record.users.find((user) => user.username === username);
  if (known === undefined) throw new ServiceError(500, "Failed to delete user");
  await replaceUser(core, id, known, undefined);
  core.events.add(id, `database user ${username} deleted`);
}

function recordOf(core: Core, id: string): InstanceRecord {
  const record = core.store.instances.get(id);
  if (record === undefined) throw new ServiceError(500, "Failed to look up the instance");
  return record;
}

/** The current user; undefined for a new one. Throws for a name that is taken, reserved or unknown. */
function findUser(core: Core, id: string, username: string, isNew: boolean): UserRecord | undefined {
  const record = recordOf(core, id);
  const first = firstUserOf(record);
  const known = record.users.find((user) => user.username === username);
  if (isNew && (known !== undefined || username === first))
    throw new ServiceError(409, `user ${username} already exists`);
  if (username === first)
    throw new ServiceError(403, "the instance's own user is changed through the instance");
  if (isReserved(username, { user: first }))
    throw new ServiceError(400, `the name ${username} is the database's own`);
  if (!isNew && known === undefined) throw new ServiceError(500, "Failed to modify user");
  return known;
}

/** Records a change and applies it, or undoes it where the database refuses it. */
async function replaceUser(
  core: Core,
  id: string,
  before: UserRecord | undefined,
  after: UserRecord | undefined,
): Promise<void> {
  await swapUser(core, id, before, after);
  const failure = await failureOf(core, id, before, after);
  if (failure === undefined) return;
  const back = untilWritten(core.lifecycle.wait, () => swapUser(core, id, after, before));
  core.lifecycle.background(id, back);
  await Promise.race([back.catch(() => undefined), sleep(rollbackWait, undefined, { ref: false })]);
  await applyUser(core, id, before).catch(() => undefined);
  throw failure;
}

/** Applies a change; returns the error of a refusal. A database that does not run gets the change at its next start. */
async function failureOf(
  core: Core,
  id: string,
  before: UserRecord | undefined,
  after: UserRecord | undefined,
): Promise<ServiceError | undefined> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      await applyUser(core, id, after);
      return undefined;
    } catch (error) {
      if (error instanceof ServiceError) return error;
      if (!core.databases.serves(id)) break;
      if (attempt === attempts) return new ServiceError(500, "Failed to store the user");
      await sleep(pause);
    }
  }
  if (after === undefined || after.acl === before?.acl) return undefined;
  return checkRules(core, after.acl).then(
    () => undefined,
    (error: unknown) =>
      error instanceof ServiceError ? error : new ServiceError(500, "Failed to check the ACL"),
  );
}

async function applyUser(core: Core, id: string, user: UserRecord | undefined): Promise<void> {
  const record = core.store.instances.get(id);
  if (record === undefined || !core.databases.serves(id)) return;
  const refused = await core.databases.applyUsers(record);
  const own = refused.find(({ username }) => username === user?.username);
  if (own !== undefined) throw refusal(own.reason);
}

/** Checks rules with the engine: 400 if it refuses them, 500 if it cannot be started, on a full disk for example. */
async function checkRules(core: Core, acl: string): Promise<void> {
  try {
    await core.databases.checkRules(acl);
  } catch (error) {
    if (isRefusal(error)) throw refusal(error.message);
    const cause = error instanceof Error && isFileError(error.cause) ? error.cause : error;
    throw isFileError(cause) ? core.trouble.failed(cause) : new ServiceError(500, "Failed to check the ACL");
  }
}

function refusal(reason: string): ServiceError {
  return new ServiceError(400, `ACL is refused: ${reason.replace(/^user \S+: /, "")}`);
}

/** Replaces a user in the record; does nothing where it is gone. */
async function swapUser(
  core: Core,
  id: string,
  before: UserRecord | undefined,
  after: UserRecord | undefined,
): Promise<void> {
  await core.store.instances.update(id, (record) => {
    const isTaken = record.users.some((user) => user.username === after?.username);
    const added = after === undefined || (before === undefined && isTaken) ? [] : [after];
    const users =
      before === undefined
        ? [...record.users, ...added]
        : record.users.flatMap((user) => (user === before ? added : [user]));
    return { ...record, users };
  });
}

function sha256(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

/** The 52 commands that a database user may be granted. */
export const allowedCommands: ReadonlySet<string> = new Set(
  `INFO CLIENT DBSIZE PING HELLO AUTH RESTORE DUMP DEL EXISTS UNLINK TYPE FLUSHALL TOUCH EXPIRE PEXPIREAT TTL PTTL
   EXPIRETIME RENAME RENAMENX SCAN DISCARD EXEC MULTI UNWATCH WATCH ECHO SLOWLOG WAIT WAITAOF READONLY GRAPH.INFO
   GRAPH.LIST GRAPH.QUERY GRAPH.RO_QUERY GRAPH.EXPLAIN GRAPH.PROFILE GRAPH.DELETE GRAPH.CONSTRAINT GRAPH.SLOWLOG
   GRAPH.BULK GRAPH.CONFIG GRAPH.COPY CLUSTER COMMAND GRAPH.MEMORY MEMORY BGREWRITEAOF MODULE|LIST MONITOR GRAPH.UDF`.split(
    /\s+/,
  ),
);

/** Maximum length of a rule in an error message. */
const longest = 60;

/**
 * Rules of an ACL that are not allowed, shortened for an error message. Allowed are key patterns (`~p`, `%R~p`, `%W~p`, `%RW~p`),
 * grants of the commands above or their subcommands (`+C`, `+C|sub`), and removals (`-c`). Anything else (passwords, hashes,
 * channels, `on`, `nopass`, `allcommands`, selectors) would change more than the commands that a user may run.
 */
export function refusedRules(acl: string): readonly string[] {
  return splitRules(acl)
    .filter((rule) => !isAllowed(rule))
    .map(shown);
}

function isAllowed(rule: string): boolean {
  if (!rule.startsWith("+")) return /^(?:-|~|%(?:R|W|RW|WR)~)./is.test(rule);
  const command = rule.slice(1).toUpperCase();
  return allowedCommands.has(command) || allowedCommands.has(command.split("|")[0] ?? "");
}

/** A rule without the password or hash in it. */
function shown(rule: string): string {
  if (/^[<>#!]/.test(rule)) return `${rule.slice(0, 1)}...`;
  return rule.length > longest ? `${rule.slice(0, longest)}...` : rule;
}
