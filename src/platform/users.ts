import { createHash } from "node:crypto";
import type { JsonObject } from "../model/json.ts";
import { forbiddenCommands } from "./acl-rules.ts";
import type { Core } from "./core.ts";
import { EngineError } from "./engine/index.ts";
import type { InstanceRecord, UserRecord } from "./records.ts";
import { ServiceError } from "./service-error.ts";

/** The database's first user, as the list shows it. It belongs to the instance and cannot be changed here. */
function defaultUser(record: InstanceRecord): JsonObject | undefined {
  const username = record.params["graphdbUser"];
  return typeof username === "string" ? { username, acl: "~* &* +@all" } : undefined;
}

/** Users of an instance as the list shows them: no passwords. */
export function listUsers(record: InstanceRecord): readonly JsonObject[] {
  const first = defaultUser(record);
  return [
    ...(first === undefined ? [] : [first]),
    ...record.users.map(({ username, acl }) => ({ username, acl })),
  ];
}

/** Adds a user (409 for a name that exists), or changes one (500 for one that does not, as the real host). */
export async function putUser(
  core: Core,
  record: InstanceRecord,
  username: string,
  wanted: { readonly password?: string | undefined; readonly acl?: string | undefined },
  isNew: boolean,
): Promise<void> {
  const isFirst = defaultUser(record)?.["username"] === username;
  const known = record.users.find((user) => user.username === username);
  refuseAcl(wanted.acl ?? "");
  if (isNew && (isFirst || known !== undefined))
    throw new ServiceError(409, `user ${username} already exists`);
  if (isFirst) throw new ServiceError(403, "the instance's own user is changed through the instance");
  if (!isNew && known === undefined) throw new ServiceError(500, "Failed to modify user");
  const user: UserRecord = {
    username,
    passwordHash: wanted.password === undefined ? (known?.passwordHash ?? "") : sha256(wanted.password),
    acl: wanted.acl ?? known?.acl ?? "",
  };
  const saved = saveUsers(core, record.id, (users) => [
    ...users.filter((each) => each.username !== username),
    user,
  ]);
  if (isServing(record)) {
    try {
      await core.databases.setUser(record, user);
    } catch (error) {
      const restored = known === undefined ? [] : [known];
      await saveUsers(core, record.id, (users) => [...users.filter((each) => each !== user), ...restored]);
      throw refusalOf(error);
    }
  }
  await saved;
  core.events.add(record.id, `database user ${username} ${isNew ? "created" : "changed"}`);
}

/** Takes a user away: 403 for the instance's own, 500 for one that does not exist, as the real host. */
export async function dropUser(core: Core, record: InstanceRecord, username: string): Promise<void> {
  if (defaultUser(record)?.["username"] === username) {
    throw new ServiceError(403, "the instance's own user cannot be deleted");
  }
  if (!record.users.some((user) => user.username === username))
    throw new ServiceError(500, "Failed to delete user");
  if (isServing(record)) await core.databases.removeUser(record, username);
  await saveUsers(core, record.id, (users) => users.filter((each) => each.username !== username));
  core.events.add(record.id, `database user ${username} deleted`);
}

function refuseAcl(acl: string): void {
  const forbidden = forbiddenCommands(acl);
  if (forbidden.length > 0)
    throw new ServiceError(400, `ACL contains commands that are not allowed: ${forbidden.join(", ")}`);
}

/** Rules that the database itself does not take are the client's to correct; all else is a 500. */
function refusalOf(error: unknown): ServiceError {
  const isRefused = error instanceof EngineError && error.code === "engine-refused";
  return isRefused
    ? new ServiceError(400, `ACL is refused: ${error.message}`)
    : new ServiceError(500, "Failed to store the user");
}

/** Users of an instance that does not serve are kept here and put in force when it starts. */
function isServing(record: InstanceRecord): boolean {
  return record.status === "RUNNING" || record.status === "BACKING_UP";
}

async function saveUsers(
  core: Core,
  id: string,
  change: (users: readonly UserRecord[]) => readonly UserRecord[],
): Promise<void> {
  const current = core.store.instances.get(id);
  if (current !== undefined) await core.store.instances.save({ ...current, users: change(current.users) });
}

function sha256(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
