import { afterAll, beforeAll, expect, it } from "vitest";
import { ask } from "../support/local-platform.ts";
import { login, movedManifest, startMoved } from "../support/moved-database.ts";
import type { Ran, Workspace } from "../support/workspace.ts";

function manifest(cache: number): string {
  return movedManifest({
    name: "damaged",
    cache,
    lifecycle: "migration: { maxReadOnly: 1h }",
  });
}

let user: Workspace;
beforeAll(async () => {
  user = await startMoved(manifest(25));
});
afterAll(() => user.close());

async function query(text: string): Promise<string> {
  const { out } = await user.run("output", "orders", "--raw");
  return JSON.stringify(await ask(out.trim(), login, ...text.split("|")));
}

async function expectCode(code: number, ...words: readonly string[]): Promise<Ran> {
  const ran = await user.run(...words);
  expect(ran, ran.out + ran.err).toMatchObject({ code });
  return ran;
}

it("names a graph that a start has damaged on the way back, and goes forward again to the whole one", async () => {
  await query("GRAPH.CONFIG|SET|EFFECTS_THRESHOLD|0");
  await query("GRAPH.QUERY|shop|CREATE (:Item {n: 1})-[:OF {n: 1}]->(:Item {n: 2})");
  const failing = "GRAPH.QUERY|shop|MERGE (x:Failed {left: 1}) ON CREATE SET x.never = 5 % 0";
  await expect(query(failing)).rejects.toThrow("Division");
  await query("GRAPH.QUERY|shop|UNWIND range(1, 1000) AS n CREATE (:Large {taken: n})");
  user.write("graphform.yaml", manifest(100));
  await expectCode(8, "apply", "--auto-approve");
  await expectCode(0, "apply", "--auto-approve", "--cutover", "instances.orders");
  const sum = "GRAPH.RO_QUERY|shop|MATCH (n:Large) RETURN sum(n.taken)";
  expect(await query(sum)).toContain('"500500"');
  const { resources } = user.state("damaged");

  const back = await expectCode(1, "replace", "undo", "instances.orders");
  expect(back.err).toContain("the database ended while its graph shop was read");
  expect(back.err).toContain("graphform replace undo instances.orders goes to the other database");
  expect(user.state("damaged").resources["instances.orders"]?.id).toBe(
    resources["instances.orders~former"]?.id,
  );

  await expectCode(0, "replace", "undo", "instances.orders");
  expect(user.state("damaged").resources["instances.orders"]?.id).toBe(resources["instances.orders"]?.id);
  expect(await query(sum)).toContain('"500500"');
});

it("says that an older password is in force again, and that it could not read the graphs by it", async () => {
  user.env["APP_PASSWORD"] = "second-password";
  await expectCode(0, "apply", "--auto-approve");
  const back = await expectCode(0, "replace", "undo", "instances.orders");
  expect(back.err).toContain(
    "other secrets are in force than before: config.graphdbPassword of instances.orders",
  );
  expect(back.err).toMatch(/its graphs were not read to the end: \S+ there is no password to sign in with/);
});
