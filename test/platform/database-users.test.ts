import { describe, expect, it } from "vitest";
import { createEvents } from "../../src/platform/control/events.ts";
import { recordState } from "../../src/platform/control/record-state.ts";
import { createTasks } from "../../src/platform/control/tasks.ts";
import { createNoDatabases, type Databases } from "../../src/platform/databases/databases.ts";
import type { InstanceRecord, Store, UserRecord } from "../../src/platform/model/records.ts";
import { instanceRecord } from "./instance-record.ts";

const user = (username: string, acl = "+PING"): UserRecord => ({ username, passwordHash: "aa", acl });
const [early, late, odd] = [user("early"), user("late"), user("odd", "nonsense")];
const record = instanceRecord({ status: "STARTING", power: "stopped", nodes: [], users: [early] });

/** A database that remembers its users, and refuses nonsense. `failures`: so many of the next calls are not answered. */
function fakeDatabase(atApply: (users: readonly UserRecord[]) => void = () => undefined) {
  const database = { users: [early] as readonly UserRecord[], failures: 0 };
  return {
    database,
    names: () => database.users.filter(({ acl }) => acl !== "nonsense").map(({ username }) => username),
    hasUsers: ({ users }: InstanceRecord) =>
      users.length === database.users.length && users.every((wanted) => database.users.includes(wanted)),
    async applyUsers({ users }: InstanceRecord) {
      database.failures -= 1;
      if (database.failures >= 0) throw new Error("it does not answer");
      database.users = users;
      atApply(users);
      return users
        .filter(({ acl }) => acl === "nonsense")
        .map(({ username }) => ({ username, reason: "Syntax error" }));
    },
  };
}

/** What `recordState` works with, over one record and one database. `noted` sees each state that is noted. */
function world(
  users: Pick<Databases, "hasUsers" | "applyUsers">,
  noted: (status: string) => void = () => undefined,
) {
  let current: InstanceRecord | undefined = record;
  const events = createEvents(() => 0);
  const databases: Databases = {
    ...createNoDatabases("test"),
    hasUsers: users.hasUsers,
    applyUsers: users.applyUsers,
  };
  const note = (_id: string, change: (record: InstanceRecord) => InstanceRecord): void => {
    if (current !== undefined) noted(change(current).status);
  };
  const store = { instances: { get: () => current, note } };
  const isStore = (_value: unknown): _value is Store => true;
  if (!isStore(store)) throw new Error("unreachable");
  const parts = {
    store,
    events,
    databases,
    tasks: { ...createTasks(events), wait: async () => undefined },
    timestamp: () => record.createdAt,
  };
  return {
    events,
    run: () => recordState(parts, record.id, { status: "RUNNING" }),
    save: (changed: readonly UserRecord[] | undefined): void => {
      current = changed === undefined ? undefined : { ...record, users: changed };
    },
  };
}

describe("an instance that comes to run", () => {
  it("is RUNNING once its users are applied, also those that change while others are applied", async () => {
    let seen: readonly string[] = [];
    const database = fakeDatabase((users) => {
      if (users.length === 1) save([late, user("latest")]);
    });
    const { run, save } = world(database, () => {
      seen = database.names();
    });
    save([late]);
    await run();
    expect(seen).toEqual(["late", "latest"]);
  });

  it("is RUNNING in spite of a user that the database refuses, and of one silence", async () => {
    const database = fakeDatabase();
    const statuses: string[] = [];
    const { run, save, events } = world(database, (status) => statuses.push(status));
    database.database.failures = 1;
    save([odd, late]);
    await run();
    expect([statuses, database.names()]).toEqual([["RUNNING"], ["late"]]);
    expect(events.recent()).toMatchObject([
      { message: expect.stringContaining("user odd cannot sign in"), isFailure: true },
    ]);
  });

  it("is not RUNNING if the database does not answer at all", async () => {
    const database = fakeDatabase();
    const statuses: string[] = [];
    const { run, save } = world(database, (status) => statuses.push(status));
    database.database.failures = 20;
    save([late]);
    await expect(run()).rejects.toThrow("does not answer");
    expect(statuses).toEqual([]);
  });

  it("waits for no users if its record is gone", async () => {
    const { run, save } = world(fakeDatabase());
    save(undefined);
    await expect(run()).resolves.toBeUndefined();
  });
});
