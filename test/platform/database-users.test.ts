import { describe, expect, it } from "vitest";
import { createEvents } from "../../src/platform/control/events.ts";
import { recordState } from "../../src/platform/control/record-state.ts";
import { type DatabaseUsers, databaseUsers } from "../../src/platform/databases/database-users.ts";
import type { Databases } from "../../src/platform/databases/databases.ts";
import { createNoDatabases } from "../../src/platform/databases/no-databases.ts";
import { EngineError } from "../../src/platform/engine/index.ts";
import type { Store } from "../../src/platform/model/collection.ts";
import type { InstanceRecord, UserRecord } from "../../src/platform/model/records.ts";
import { instanceRecord } from "./instance-record.ts";

const user = (username: string, acl = "+PING"): UserRecord => ({ username, passwordHash: "aa", acl });
const [early, late, odd] = [user("early"), user("late"), user("odd", "nonsense")];
const record = instanceRecord({ status: "STARTING", power: "stopped", nodes: [], users: [early] });

/** A database that remembers its users by name, and refuses nonsense. */
function fakeDatabase() {
  const rules = new Map<string, string>([["early", "+PING"]]);
  const failures: string[] = [];
  return {
    rules,
    /** The next of these calls are not answered. */
    failures,
    async setUser({ username, rules: acl }: { username: string; rules: string }): Promise<void> {
      if (failures.shift() !== undefined) throw new Error("it does not answer");
      if (acl === "nonsense") throw new EngineError("user-refused", `user ${username}: Syntax error`);
      rules.set(username, acl);
    },
    async removeUser(username: string): Promise<void> {
      if (failures.shift() !== undefined) throw new Error("it does not answer");
      rules.delete(username);
    },
  };
}

describe("the users of a database", () => {
  it("become those of the record: they come, change and go", async () => {
    const database = fakeDatabase();
    const users = databaseUsers(database, [early]);
    expect([users.have([early]), users.have([]), users.have([early, late])]).toEqual([true, false, false]);
    const changed = user("early", "+INFO");
    expect(users.have([changed])).toBe(false);
    await users.put([changed, late]);
    expect([...database.rules]).toEqual([
      ["early", "+INFO"],
      ["late", "+PING"],
    ]);
    await users.put([late]);
    expect([[...database.rules.keys()], users.have([late])]).toEqual([["late"], true]);
  });

  it("end as the last request says, however many come at once", async () => {
    const database = fakeDatabase();
    const users = databaseUsers(database, [early]);
    await Promise.all([users.put([early, late]), users.put([late]), users.put([]), users.put([early])]);
    expect([[...database.rules.keys()], users.have([early])]).toEqual([["early"], true]);
  });

  it("are tried again after a database that did not answer, and not after one that refused", async () => {
    const database = fakeDatabase();
    const users = databaseUsers(database, [early]);
    database.failures.push("once");
    await expect(users.put([early, late])).rejects.toThrow("does not answer");
    expect(users.have([early, late])).toBe(false);
    expect(users.have([early])).toBe(false);
    expect(await users.put([early, late, odd])).toEqual([
      { username: "odd", reason: "user odd: Syntax error" },
    ]);
    expect([users.have([early, late, odd]), [...database.rules.keys()]]).toEqual([true, ["early", "late"]]);
    await users.put([early]);
    expect([...database.rules.keys()]).toEqual(["early"]);
  });
});

/** What `recordState` works with, over one record and one database. `noted` sees each state that is noted. */
function world(users: DatabaseUsers, noted: (status: string) => void = () => undefined) {
  let current: InstanceRecord | undefined = record;
  const events = createEvents(() => 0);
  const databases: Databases = {
    ...createNoDatabases("test"),
    hasUsers: (asked) => users.have(asked.users),
    applyUsers: (asked) => users.put(asked.users),
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
    databases: () => databases,
    wait: async () => undefined,
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
    const database = fakeDatabase();
    let seen: readonly string[] = [];
    const { run, save } = world(
      databaseUsers(
        {
          removeUser: database.removeUser,
          async setUser(asked) {
            await database.setUser(asked);
            if (asked.username === "late") save([late, user("latest")]);
          },
        },
        [early],
      ),
      () => {
        seen = [...database.rules.keys()];
      },
    );
    save([late]);
    await run();
    expect(seen).toEqual(["late", "latest"]);
  });

  it("is RUNNING in spite of a user that the database refuses, and of one silence", async () => {
    const database = fakeDatabase();
    const statuses: string[] = [];
    const { run, save, events } = world(databaseUsers(database, [early]), (status) => statuses.push(status));
    database.failures.push("once");
    save([odd, late]);
    await run();
    expect([statuses, [...database.rules.keys()]]).toEqual([["RUNNING"], ["late"]]);
    expect(events.recent()).toMatchObject([
      { message: expect.stringContaining("user odd cannot sign in"), isFailure: true },
    ]);
  });

  it("is not RUNNING if the database does not answer at all", async () => {
    const database = fakeDatabase();
    const statuses: string[] = [];
    const { run, save } = world(databaseUsers(database, [early]), (status) => statuses.push(status));
    database.failures.push(...Array.from({ length: 20 }, () => "again"));
    save([late]);
    await expect(run()).rejects.toThrow("does not answer");
    expect(statuses).toEqual([]);
  });

  it("waits for no users if its record is gone", async () => {
    const { run, save } = world(databaseUsers(fakeDatabase(), [early]));
    save(undefined);
    await expect(run()).resolves.toBeUndefined();
  });
});
