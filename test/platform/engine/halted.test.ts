import { describe, expect, it } from "vitest";
import { countNodes, fill, prepare, processesIn } from "./fixture.ts";

const ground = prepare();

// Each waits until the server has been silent long enough: together they take no longer than one.
describe.concurrent("a server that is halted and no longer answers", () => {
  it("is ended by a stop", async () => {
    const spec = ground.spec();
    const database = await ground.engine.start(spec);
    process.kill(database.nodes()[0]?.pid ?? 0, "SIGSTOP");
    expect(await database.ping()).toBe(false);
    await database.stop();
    expect(await processesIn(spec.dir)).toEqual([]);
  });

  it("is told to go on by a start over its folder: nothing that it has only in memory is lost", async () => {
    const { aof: _, ...spec } = ground.spec();
    const database = await ground.engine.start(spec);
    await fill(database, 7);
    const [before] = database.nodes();
    process.kill(before?.pid ?? 0, "SIGSTOP");
    const again = await ground.engine.start(spec);
    expect(again.nodes()[0]).toEqual(before);
    expect(await countNodes(again)).toBe(7);
    expect(await processesIn(spec.dir)).toHaveLength(1);
  });
});
