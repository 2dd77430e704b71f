import { afterAll, beforeAll, expect, it } from "vitest";
import { ask } from "../support/local-platform.ts";
import { login, movedManifest, startMoved } from "../support/moved-database.ts";
import {
  driftViolations,
  eventViolations,
  planViolations,
  replaceViolations,
  stateViolations,
  type Violations,
} from "../support/published-schemas.ts";
import type { Workspace } from "../support/workspace.ts";

function manifest(cache: number): string {
  return movedManifest({
    name: "documents",
    cache,
    lifecycle: 'migration: { hook: ["false"] }',
    more: `users:\n  reader: { instance: orders, username: reader, password: "\${secret.app}", acl: "~* +GRAPH.RO_QUERY +PING" }\n`,
  });
}

let user: Workspace;
beforeAll(async () => {
  user = await startMoved(manifest(25));
  const { out } = await user.run("output", "orders", "--raw");
  await ask(out.trim(), login, "GRAPH.QUERY", "shop", "CREATE (:Order {n: 1})-[:OF]->(:Item)");
});
afterAll(() => user.close());

/** Runs a command with --json, expects its exit code, and its document to be valid by the published schema. */
async function document(violations: Violations, code: number, ...words: readonly string[]): Promise<string> {
  const { out, err, ...ended } = await user.run(...words, "--json");
  expect(ended, `${words.join(" ")}: ${out}${err}`).toMatchObject({ code });
  expect(violations(JSON.parse(out)), words.join(" ")).toEqual([]);
  return out;
}

/** The same of each line of a stream of events. Returns the operations of its steps. */
async function stream(code: number, ...words: readonly string[]): Promise<readonly unknown[]> {
  const { out, err, ...ended } = await user.run(...words, "--json");
  expect(ended, `${words.join(" ")}: ${out}${err}`).toMatchObject({ code });
  const events = out
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  expect(events.length).toBeGreaterThan(0);
  expect(events.flatMap(eventViolations), words.join(" ")).toEqual([]);
  return events.flatMap((event) => event["x_graphform"]?.operation ?? []);
}

/** All documents that do not change anything, in the phase that the migration is in. */
async function allDocuments(phase: string): Promise<void> {
  const status = await document(replaceViolations, 0, "replace", "status");
  expect(JSON.parse(status)).toMatchObject({ "instances.orders": { phase } });
  await document(planViolations, 0, "plan");
  await document(planViolations, 0, "plan", "--cutover", "instances.orders", "--out", "saved.plan");
  await document(planViolations, 0, "show", "saved.plan");
  const drift = await user.run("drift", "--json");
  expect(driftViolations(JSON.parse(drift.out))).toEqual([]);
  expect(stateViolations(user.state("documents"))).toEqual([]);
}

it("every document of a migration, of its way back and of its end is valid by the published schemas", async () => {
  user.write("graphform.yaml", manifest(100));
  const plan = await document(planViolations, 0, "plan");
  expect(plan).toContain('"migrate"');
  expect(await stream(8, "apply", "--auto-approve")).toContain("migrate");
  await allDocuments("await-cutover");

  const cutover = ["apply", "--auto-approve", "--cutover", "instances.orders"] as const;
  expect(await stream(8, ...cutover)).toContain("migrate");
  await allDocuments("await-cutover");

  expect(await stream(1, ...cutover)).toContain("migrate");
  await allDocuments("hook");

  user.write("graphform.yaml", manifest(100).replace('"false"', '"true"'));
  expect(await stream(0, "apply", "--auto-approve")).toContain("migrate");
  await allDocuments("hold");

  expect(await stream(0, "replace", "undo", "instances.orders")).toContain("migrate");
  await allDocuments("hold");
  await stream(0, "replace", "undo", "instances.orders");

  const retire = ["--allow-destroy", "instances.orders~former"];
  await document(planViolations, 0, "plan", ...retire);
  await stream(0, "apply", "--auto-approve", ...retire);
  await document(replaceViolations, 0, "replace", "status");
});

it("the schema of the migrations allows no member that is not documented", () => {
  const held = { phase: "hold", since: "2026-01-01T00:00:00.000Z" };
  expect(replaceViolations({ "instances.a": held })).toEqual([]);
  expect(replaceViolations({ "instances.a": { ...held, former: {} } })).not.toEqual([]);
  expect(replaceViolations({ "instances.a": { ...held, phase: "other" } })).not.toEqual([]);
});
