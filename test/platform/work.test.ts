import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { createEvents } from "../../src/platform/events.ts";
import { createNoDatabases } from "../../src/platform/no-databases.ts";
import { settingsOf } from "../../src/platform/options.ts";
import type { InstanceRecord } from "../../src/platform/records.ts";
import { openStore } from "../../src/platform/store.ts";
import { workOf } from "../../src/platform/work.ts";

const early = { username: "early", passwordHash: "aa", acl: "+PING" };
const late = { username: "late", passwordHash: "bb", acl: "+PING" };
const record: InstanceRecord = {
  id: "instance-1",
  isAccount: false,
  tier: "pro",
  component: "standalone",
  resourceId: "r-pro-standalone",
  cloudProvider: "aws",
  region: "us-east-1",
  networkType: "PUBLIC",
  params: {},
  status: "STARTING",
  createdAt: "2026-01-01T00:00:00.000Z",
  lastModified: "2026-01-01T00:00:00.000Z",
  power: "stopped",
  nodes: [],
  users: [early],
  deletionProtection: false,
  customTags: [],
};

it("users that come and go while the database starts are put in force after it", async () => {
  const dataDir = await mkdtemp(join(tmpdir(), "graphform-work-"));
  try {
    const store = await openStore(dataDir);
    await store.instances.save(record);
    const calls: string[] = [];
    const none = createNoDatabases("test");
    const works = workOf({
      store,
      settings: settingsOf({ dataDir, port: 0 }),
      events: createEvents(() => 0),
      snapshotFile: () => "",
      timestamp: () => "2026-01-01T00:00:01.000Z",
      databases: () => ({
        ...none,
        async start(started) {
          await store.instances.save({ ...started, users: [late] });
          return none.start(started);
        },
        setUser: async (_record, user) => void calls.push(`set ${user.username}`),
        removeUser: async (_record, username) => void calls.push(`remove ${username}`),
      }),
    });
    const outcome = await works.run(record, { name: "start", id: "1", startedAt: "" });
    expect(outcome).toMatchObject({ status: "RUNNING", power: "running" });
    expect(calls).toEqual(["set late", "remove early"]);
  } finally {
    await rm(dataDir, { recursive: true, force: true });
  }
});
