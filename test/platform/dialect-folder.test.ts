import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeEach, expect, it } from "vitest";
import { ArgumentError, readArguments } from "../../src/platform/arguments.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { startTest } from "./harness.ts";
import { spawnPlatform } from "./spawned.ts";
import { small, startup } from "./vendor.ts";

let dataDir: string;
beforeEach(async () => {
  dataDir = temporaryFolder("dialect");
});

it("a folder is opened in the dialect that its records were made in", async () => {
  const first = await startTest({ dataDir, profile: "falkordb-cloud" });
  const id = await first.create(startup, small);
  await first.until(`${startup}/${id}`, "RUNNING");
  await first.close();
  await expect(startTest({ dataDir, profile: "default" })).rejects.toThrow(
    /records of the profile falkordb-cloud, not of default; start it with --profile falkordb-cloud/,
  );
  const again = await startTest({ dataDir });
  expect(again.platform.profile).toBe("falkordb-cloud");
  expect((await again.call("GET", `${startup}/${id}`)).body["status"]).toBe("RUNNING");
  await again.close();
});

it("a folder of the default profile with records in it is not opened in another dialect; an empty one is", async () => {
  const first = await startTest({ dataDir });
  await first.close();
  const other = await startTest({ dataDir, profile: "falkordb-cloud" });
  await other.close();
  const back = await startTest({ dataDir, profile: "default" });
  await back.create();
  await back.close();
  await expect(startTest({ dataDir, profile: "falkordb-cloud" })).rejects.toThrow(
    /records of the profile default/,
  );
});

it("the program speaks the dialect of --profile, and announces it", async () => {
  const { client, end } = await spawnPlatform(dataDir, "--engine", "none", "--profile", "falkordb-cloud");
  try {
    expect((await client.call("GET", startup)).body).toEqual({ ids: [] });
    expect(JSON.parse(await readFile(join(dataDir, "platform.json"), "utf8"))).toHaveProperty(
      "profile",
      "falkordb-cloud",
    );
  } finally {
    await end("SIGTERM");
  }
});

it.each([
  ["--profile", "nobody-cloud", "--profile must be default or falkordb-cloud, not nobody-cloud"],
  ["--failover-path", "replica", "--failover-path must be node or component or either, not replica"],
  ["--networks", "all", "--networks must be full or adopt-only, not all"],
])("%s %s is refused", async (option, value, message) => {
  await expect(readArguments([option, value])).rejects.toThrow(new ArgumentError(message));
});
