import { createHash } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { JsonObject } from "../../model/json.ts";
import type { Core } from "../core.ts";
import { isRefusal } from "../databases/database-users.ts";
import { isReserved, tenantRules } from "../engine/index.ts";
import { inTurn } from "../in-turn.ts";
import { firstUserOf } from "../model/first-user.ts";
import type { InstanceRecord, UserRecord } from "../model/records.ts";
import { ServiceError } from "../model/service-error.ts";
import { refusedRules } from "./acl-rules.ts";
import { untilWritten } from "./record-state.ts";

/** How often a database that serves and does not answer is asked, and the time between, in ms. */
const attempts = 3;
const pause = 100;

/** How long an answer waits for a refused change to be taken back, in ms; where the disk is full, that goes on behind it. */
const rollbackWait = 2000;

/** Users of an instance as the list shows them, its own first: no passwords. */
export function listUsers(record: InstanceRecord): readonly JsonObject[] {
  return [
    { username: firstUserOf(record), acl: tenantRules.join(" ") },
    ...record.users.map(({ username, acl }) => ({ username, acl })),
  ];
}

/**
 * Adds a user (409 for a name that exists), or changes one (500 for one that does not, as the real host). The engine itself
 * proves the rules: by taking the user where the database serves, on a database of its own where it does not.
 */
export async function putUser(
  core: Core,
  id: string,
  username: string,
  wanted: WantedUser,
  isNew: boolean,
): Promise<void> {
  // One after another: each is decided by what the one before it left.
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
    await prove(core, wanted.acl);
  // The proof took its time.
  const known = findUser(core, id, username, isNew);
  const user: UserRecord = {
    username,
    passwordHash: wanted.password === undefined ? (known?.passwordHash ?? "") : sha256(wanted.password),
    acl: wanted.acl ?? known?.acl ?? "",
  };
  await replaceUser(core, id, known, user);
  core.events.add(id, `database user ${username} ${isNew ? "created" : "changed"}`);
}

/** Takes a user away: 403 for the instance's own, 500 for one that does not exist, as the real host. */
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

/** The user that a change is about; undefined for a new one. Throws where the name cannot be taken, or has nobody. */
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

/** Writes a change down and puts it in force, or takes it back. */
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
  await putInForce(core, id, before).catch(() => undefined);
  throw failure;
}

/** Tries to put a change in force. What does not serve, or stops to meanwhile, gets it once it serves again. */
async function failureOf(
  core: Core,
  id: string,
  before: UserRecord | undefined,
  after: UserRecord | undefined,
): Promise<ServiceError | undefined> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      await putInForce(core, id, after);
      return undefined;
    } catch (error) {
      if (error instanceof ServiceError) return error;
      if (!core.databases.serves(id)) break;
      if (attempt === attempts) return new ServiceError(500, "Failed to store the user");
      await sleep(pause);
    }
  }
  if (after === undefined || after.acl === before?.acl) return undefined;
  return prove(core, after.acl).then(
    () => undefined,
    (error: unknown) =>
      error instanceof ServiceError ? error : new ServiceError(500, "Failed to check the ACL"),
  );
}

async function putInForce(core: Core, id: string, user: UserRecord | undefined): Promise<void> {
  const record = core.store.instances.get(id);
  if (record === undefined || !core.databases.serves(id)) return;
  const refused = await core.databases.applyUsers(record);
  const own = refused.find(({ username }) => username === user?.username);
  if (own !== undefined) throw refusal(own.reason);
}

/** Lets the engine say whether it takes the rules: 400 where it does not, 500 where it cannot be asked. */
async function prove(core: Core, acl: string): Promise<void> {
  try {
    await core.databases.checkRules(acl);
  } catch (error) {
    throw isRefusal(error) ? refusal(error.message) : new ServiceError(500, "Failed to check the ACL");
  }
}

function refusal(reason: string): ServiceError {
  return new ServiceError(400, `ACL is refused: ${reason.replace(/^user \S+: /, "")}`);
}

/** Puts one user in the place of another; where that one is gone meanwhile, nothing. */
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
