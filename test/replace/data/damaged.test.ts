import { beforeAll, describe, expect, it } from "vitest";
import { compareData } from "../../../src/replace/data/compare-data.ts";
import { copy } from "../../../src/replace/data/copy.ts";
import { takeInventory } from "../../../src/replace/data/inventory.ts";
import { openSide, type Side } from "../../../src/replace/data/nodes.ts";
import { rehearse } from "../../../src/replace/data/rehearse.ts";
import { prepare } from "../../platform/engine/fixture.ts";
import { never, run, startSide } from "./databases.ts";

const ground = prepare();

/** A database whose graph `shop` ends the server that reads its properties: a failed query has left a key, and a start has forgotten it. */
async function startDamaged(): Promise<Side> {
  const { side, database, spec } = await startSide(ground, { aof: "always" });
  const query = (text: string): Promise<unknown> => run(side, "GRAPH.QUERY", "shop", text);
  await run(side, "GRAPH.QUERY", "sound", "CREATE (:Whole {n: 1})");
  await run(side, "GRAPH.CONFIG", "SET", "EFFECTS_THRESHOLD", "0");
  await query("CREATE (:Item {n: 1})-[:OF {n: 1}]->(:Item {n: 2})");
  await expect(query("MERGE (x:Failed {left: 1}) ON CREATE SET x.never = 5 % 0")).rejects.toThrow("Division");
  await query("UNWIND range(1, 1000) AS n CREATE (:Large {taken: n})");
  side.close();
  await database.stop();
  const { host, nodes } = await ground.engine.start(spec).then((again) => ({
    host: again.host,
    nodes: again.nodes(),
  }));
  return openSide(
    nodes.map(({ port }) => ({ host, port, username: "tenant", password: spec.password })),
    never,
  );
}

describe("a graph that ends the server which reads it", () => {
  let damaged: Side;
  beforeAll(async () => {
    damaged = await startDamaged();
  }, 60_000);

  it("is named by a rehearsal, which reads the copy and does not end the live database", async () => {
    const { side: target } = await startSide(ground);
    const inventory = await takeInventory(damaged, never);
    const error = await rehearse(damaged, target, { inventory }, never).catch((reason: unknown) => reason);
    expect(error).toMatchObject({
      code: "graph-ends-server",
      message: "the new database ended while its graph shop was read",
      hint: expect.stringMatching(/damaged.*load it anew.*replace undo/),
    });
    expect(await run(damaged, "PING")).toBe("PONG");
  });

  it("is named if it ends the live database, too", async () => {
    const { side: target } = await startSide(ground);
    await run(target, "GRAPH.QUERY", "shop", "CREATE (:Item {n: 1})-[:OF {n: 1}]->(:Item {n: 2})");
    const inventory = await takeInventory(damaged, never);
    await expect(compareData(damaged, target, { inventory }, never)).rejects.toMatchObject({
      code: "graph-ends-server",
      message: "the old database ended while its graph shop was read",
    });
    await expect(run(damaged, "PING")).rejects.toThrow();
  });

  it("is not named if a database was asked for nothing of it, or the run is stopped", async () => {
    const [{ side: source }, { side: target }] = [await startSide(ground), await startSide(ground)];
    await run(source, "GRAPH.QUERY", "shop", "CREATE (:Item {n: 1})");
    const inventory = await takeInventory(source, never);
    await copy(source, target, { inventory }, never);
    const stopped = AbortSignal.abort(new Error("the run was stopped"));
    await expect(compareData(source, target, { inventory }, stopped)).rejects.toThrow("the run was stopped");
  });
});
