/** @module Adds, changes and removes database users, in the record and in the running database. */
import { setTimeout as sleep } from "node:timers/promises";
import { isFileError } from "../../files/file-trouble.ts";
import type { JsonObject } from "../../model/json.ts";
import type { Core } from "../core.ts";
import { hashOf, isReserved, splitRules, tenantRules } from "../engine/index.ts";
import { inTurn } from "../in-turn.ts";
import { firstUserOf, type InstanceRecord, type UserRecord } from "../model/records.ts";
import { ServiceError } from "../model/service-error.ts";

/** Attempts to reach a database that runs and does not answer, and the pause between them in ms. */
const [attempts, pause] = [3, 100];

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
 * Adds a user (409 for an existing name) or changes one (500 for an unknown name, as the real host), one at a time. The engine
 * checks the rules: in the running database, or in a temporary one if none runs.
 */
export function putUser(
  core: Core,
  id: string,
  username: string,
  wanted: { readonly [part in "password" | "acl"]?: string | undefined },
  isNew: boolean,
): Promise<void> {
  if (wanted.password !== undefined) core.secrets.add(wanted.password);
  return inTurn(`users ${id}`, async () => {
    const refused = refusedRules(wanted.acl ?? "");
    if (refused.length > 0)
      throw new ServiceError(400, `ACL contains what is not allowed: ${refused.join(", ")}`);
    const before = findUser(core, id, username, isNew);
    if (wanted.acl !== undefined && wanted.acl !== before?.acl && !core.databases.serves(id))
      await checkRules(core, wanted.acl);
    // The record may have changed during the check.
    const known = findUser(core, id, username, isNew);
    const { password } = wanted;
    const passwordHash = password === undefined ? (known?.passwordHash ?? "") : hashOf(password);
    await replaceUser(core, id, known, { username, passwordHash, acl: wanted.acl ?? known?.acl ?? "" });
    core.events.add(id, `database user ${username} ${isNew ? "created" : "changed"}`);
  });
}

/** Removes a user: 403 for the instance's own user, 500 for an unknown name, as the real host. */
export function dropUser(core: Core, id: string, username: string): Promise<void> {
  return inTurn(`users ${id}`, async () => {
    const record = recordOf(core, id);
    if (firstUserOf(record) === username)
      throw new ServiceError(403, "the instance's own user cannot be deleted");
    const known = record.users.find((user) => user.username === username);
    if (known === undefined) throw new ServiceError(500, "Failed to delete user");
    await replaceUser(core, id, known, undefined);
    core.events.add(id, `database user ${username} deleted`);
  });
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

type Change = readonly [before: UserRecord | undefined, after: UserRecord | undefined];

/** Records a change and applies it, or undoes it if the database refuses it. */
async function replaceUser(core: Core, id: string, ...[before, after]: Change): Promise<void> {
  const { tasks } = core;
  await swapUser(core, id, before, after);
  try {
    await applyUser(core, id, before, after);
  } catch (error) {
    const undone = tasks.untilWritten(() => swapUser(core, id, after, before));
    tasks.run(id, undone);
    await Promise.race([undone.catch(() => undefined), sleep(rollbackWait, undefined, { ref: false })]);
    const record = core.store.instances.get(id);
    if (record !== undefined && core.databases.serves(id))
      await core.databases.applyUsers(record).catch(() => undefined);
    throw error;
  }
}

/** Applies a change; throws ServiceError for a refusal. A database that does not run gets the change at its next start. */
async function applyUser(core: Core, id: string, ...[before, after]: Change): Promise<void> {
  const { databases } = core;
  const wasServing = databases.serves(id);
  for (let attempt = 1; databases.serves(id); attempt += 1) {
    const record = core.store.instances.get(id);
    if (record === undefined) return;
    try {
      const refused = await databases.applyUsers(record);
      const own = refused.find(({ username }) => username === after?.username);
      if (own !== undefined) throw refusal(own.reason);
      return;
    } catch (error) {
      if (error instanceof ServiceError) throw error;
      if (!databases.serves(id)) break;
      if (attempt === attempts) throw new ServiceError(500, "Failed to store the user");
      await sleep(pause);
    }
  }
  if (wasServing && after !== undefined && after.acl !== before?.acl) await checkRules(core, after.acl);
}

/** Checks rules with the engine: 400 if it refuses them, 500 if it cannot be started, on a full disk for example. */
async function checkRules(core: Core, acl: string): Promise<void> {
  const refused = await core.databases.refusalOf(acl).catch((error: unknown) => {
    const cause = error instanceof Error && isFileError(error.cause) ? error.cause : error;
    throw isFileError(cause) ? core.trouble.failed(cause) : new ServiceError(500, "Failed to check the ACL");
  });
  if (refused !== undefined) throw refusal(refused);
}

function refusal(reason: string): ServiceError {
  return new ServiceError(400, `ACL is refused: ${reason.replace(/^user \S+: /, "")}`);
}

async function swapUser(core: Core, id: string, ...[before, after]: Change): Promise<void> {
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

/** The 52 commands that a database user may be granted. */
export const allowedCommands: ReadonlySet<string> = new Set(
  `INFO CLIENT DBSIZE PING HELLO AUTH RESTORE DUMP DEL EXISTS UNLINK TYPE FLUSHALL TOUCH EXPIRE PEXPIREAT TTL PTTL
   EXPIRETIME RENAME RENAMENX SCAN DISCARD EXEC MULTI UNWATCH WATCH ECHO SLOWLOG WAIT WAITAOF READONLY GRAPH.INFO
   GRAPH.LIST GRAPH.QUERY GRAPH.RO_QUERY GRAPH.EXPLAIN GRAPH.PROFILE GRAPH.DELETE GRAPH.CONSTRAINT GRAPH.SLOWLOG
   GRAPH.BULK GRAPH.CONFIG GRAPH.COPY CLUSTER COMMAND GRAPH.MEMORY MEMORY BGREWRITEAOF MODULE|LIST MONITOR GRAPH.UDF`.split(
    /\s+/,
  ),
);

const maxShown = 60;

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

function shown(rule: string): string {
  if (/^[<>#!]/.test(rule)) return `${rule.slice(0, 1)}...`;
  return rule.length > maxShown ? `${rule.slice(0, maxShown)}...` : rule;
}
