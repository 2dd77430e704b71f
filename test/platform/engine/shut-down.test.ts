import { chmod, mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { countNodes, fill, prepare, processesIn } from "./fixture.ts";

const ground = prepare();

describe("a database that cannot save", () => {
  it("says so, runs on, and stops once it can", async () => {
    const { aof: _, ...spec } = ground.spec();
    const database = await ground.engine.start(spec);
    await fill(database, 3);
    const blocker = join(spec.dir, "node-0", "data", "dump.rdb");
    await mkdir(join(blocker, "full"), { recursive: true });
    await expect(database.stop()).rejects.toThrow(/the data cannot be saved: .*(RDB|rename|moving)/i);
    expect(await processesIn(spec.dir)).toHaveLength(1);
    expect(await countNodes(database)).toBe(3);
    await expect(database.snapshot(join(ground.folder, "never.rdb"))).rejects.toThrow(
      "the snapshot cannot be written",
    );
    await rm(blocker, { recursive: true });
    await chmod(spec.dir, 0o700);
    await database.stop();
    expect(await countNodes(await ground.engine.start(spec))).toBe(3);
  });
});
