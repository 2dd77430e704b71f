import { describe, expect, it } from "vitest";
import {
  type ApplyUsersParts,
  applyUsersThenRecord,
  type RecordIf,
} from "../../src/platform/control/apply-users.ts";
import { createEvents } from "../../src/platform/control/events.ts";
import { type DatabaseUsers, databaseUsers } from "../../src/platform/databases/database-users.ts";
import type { Databases } from "../../src/platform/databases/databases.ts";
import { createNoDatabases } from "../../src/platform/databases/no-databases.ts";
import { EngineError } from "../../src/platform/engine/index.ts";
import type { InstanceRecord, UserRecord } from "../../src/platform/model/records.ts";
import type { Store } from "../../src/platform/model/store.ts";
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
      if (acl === "nonsense") throw new EngineError("engine-refused", `user ${username}: Syntax error`);
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

/** What `withUsers` works with, over one record and one database. */
function world(users: DatabaseUsers) {
  let current: InstanceRecord | undefined = record;
  const events = createEvents(() => 0);
  const none = createNoDatabases("test");
  const databases: Databases = {
    ...none,
    hasUsers: (asked) => users.have(asked.users),
    applyUsers: (asked) => users.put(asked.users),
  };
  const store = { instances: { get: () => current } };
  const isStore = (_value: unknown): _value is Store => true;
  if (!isStore(store)) throw new Error("unreachable");
  return {
    events,
    parts: { store, events, databases: () => databases, wait: async () => undefined },
    save: (changed: readonly UserRecord[] | undefined): void => {
      current = changed === undefined ? undefined : { ...record, users: changed };
    },
  };
}

/** Says it where it may be said of the record as it is. */
function saying(parts: ApplyUsersParts, say: () => void): RecordIf {
  return async (may) => {
    const now = parts.store.instances.get(record.id);
    if (now === undefined || !may(now)) return false;
    say();
    return true;
  };
}

describe("an instance that comes to run", () => {
  it("says so when its users are in force, also those that change while others are put in force", async () => {
    const database = fakeDatabase();
    const { parts, save } = world(
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
    );
    save([late]);
    let seen: readonly string[] = [];
    await applyUsersThenRecord(
      parts,
      record.id,
      saying(parts, () => {
        seen = [...database.rules.keys()];
      }),
    );
    expect(seen).toEqual(["late", "latest"]);
  });

  it("is not kept from it by a user that the database refuses, or by one silence", async () => {
    const database = fakeDatabase();
    const { parts, save, events } = world(databaseUsers(database, [early]));
    database.failures.push("once");
    save([odd, late]);
    let isRunning = false;
    await applyUsersThenRecord(
      parts,
      record.id,
      saying(parts, () => {
        isRunning = true;
      }),
    );
    expect([isRunning, [...database.rules.keys()]]).toEqual([true, ["late"]]);
    expect(events.recent()).toMatchObject([
      { message: expect.stringContaining("user odd cannot sign in"), isFailure: true },
    ]);
  });

  it("is not said to run where the database does not answer at all", async () => {
    const database = fakeDatabase();
    const { parts, save } = world(databaseUsers(database, [early]));
    database.failures.push(...Array.from({ length: 20 }, () => "again"));
    save([late]);
    const said = saying(parts, () => {
      throw new Error("said");
    });
    await expect(applyUsersThenRecord(parts, record.id, said)).rejects.toThrow("does not answer");
  });

  it("has nobody to wait for where it is gone", async () => {
    const { parts, save } = world(databaseUsers(fakeDatabase(), [early]));
    save(undefined);
    let called = 0;
    await applyUsersThenRecord(parts, record.id, async () => {
      called += 1;
      return false;
    });
    expect(called).toBe(1);
  });
});
