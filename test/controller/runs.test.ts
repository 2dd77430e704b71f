import type { ChildProcess } from "node:child_process";
import { setTimeout as pause } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { verifyAudit } from "../../src/controller/database/audit.ts";
import { manifestsOf, runsOf } from "../../src/controller/http/rows.ts";
import {
  approveRun,
  cancelRun,
  changeManifest,
  discardRun,
  removeManifest,
  requestRun,
  uploadFiles,
} from "../../src/controller/runs/decide.ts";
import { addEvents } from "../../src/controller/runs/run-moves.ts";
import { buryRun, tick } from "../../src/controller/runs/tick.ts";
import { uploadDigest } from "../../src/controller/sources/git.ts";
import { createPostgresDriver } from "../../src/state/remote/postgres/postgres-driver.ts";
import { type Fleet, manifestText, openFleet } from "./support/fleet.ts";

const asking = { kind: "reconcile", trigger: "request", actor: "ada" } as const;

describe("runs", () => {
  let fleet: Fleet;
  let worker: ChildProcess;
  beforeAll(async () => {
    fleet = await openFleet();
    worker = await fleet.worker();
  }, 60_000);
  afterAll(() => fleet.close());

  it("are applied without a person if they are safe, and find nothing to do afterwards", async () => {
    const { run, manifest } = await fleet.add("orders", manifestText("orders", ["a", "b"]));
    const ended = await fleet.until(run);
    expect(ended).toMatchObject({ status: "applied", exit_code: 0, verdict: "safe", counts: { create: 2 } });
    const again = await requestRun(fleet, { id: manifest, ...asking });
    const second = await fleet.until("run" in again ? again.run : "");
    expect(second).toMatchObject({ status: "planned_and_finished", exit_code: 0 });
  });

  it("may not take an object that the state of another manifest binds", async () => {
    const { run } = await fleet.add("owner", manifestText("owner", ["a"]));
    expect((await fleet.until(run)).status).toBe("applied");
    const [row] = await fleet.postgres.sql(
      "SELECT document::jsonb #>> '{resources,instances.a,id}' AS id FROM graphform.states WHERE name = 'shop/owner'",
    );
    const text = `${manifestText("taker", ["a"])}imports: [{ address: instances.a, id: ${row?.["id"]} }]\n`;
    const taker = await fleet.until((await fleet.add("taker", text)).run, "needs_approval");
    expect(taker).toMatchObject({ status: "errored" });
    expect(taker.reasons.join()).toContain(`${row?.["id"]} is bound by another state`);
  });

  it("open the states of a thread over the same connections", async () => {
    const { run, manifest } = await fleet.add("connected", manifestText("connected", ["a"]));
    await fleet.until(run);
    for (let left = 6; left > 0; left -= 1) {
      const again = await requestRun(fleet, { id: manifest, ...asking });
      await fleet.until("run" in again ? again.run : "");
    }
    const kept = "SELECT FROM pg_stat_activity WHERE application_name = 'graphform'";
    expect((await fleet.postgres.sql(kept)).length).toBeLessThanOrEqual(4);
  });

  it("wait for a person if they are risky; an approval is bound to the fingerprint", async () => {
    const { run } = await fleet.add("careful", manifestText("careful", ["a"]), "none");
    const waiting = await fleet.until(run, "needs_approval");
    expect(waiting.status).toBe("needs_approval");
    const other = await approveRun(fleet, { id: run, actor: "ada", fingerprint: "another" });
    expect(other).toMatchObject({ refused: "changed" });
    const fingerprint = waiting.fingerprint ?? "";
    const both = await Promise.all(
      [1, 2].map(() => approveRun(fleet, { id: run, actor: "ada", fingerprint })),
    );
    expect(both.filter((answer) => answer === "approved")).toHaveLength(1);
    expect((await fleet.until(run)).status).toBe("applied");
    const late = await approveRun(fleet, { id: run, actor: "ada", fingerprint });
    expect(late).toMatchObject({ refused: "not-waiting" });
  });

  it("are planned again if a secret has changed since the plan was approved", async () => {
    const text = manifestText("keyed", ["a"]);
    const { run: first, manifest } = await fleet.add("keyed", text);
    expect((await fleet.until(first)).status).toBe("applied");
    await changeManifest(fleet, { id: manifest, actor: "ada", auto: "none" });
    const files = { "graphform.yaml": manifestText("keyed", ["a"], ", description: changed") };
    const asked = await uploadFiles(fleet, { id: manifest, actor: "ada", files });
    const run = "run" in asked ? (asked.run ?? "") : "";
    const { fingerprint } = await fleet.until(run, "needs_approval");
    // The secrets of a worker's environment stay as they are as long as it runs: those of the plan change instead.
    const other = `UPDATE graphform.plans SET document = jsonb_set(document, '{secrets,0}', '"other"') WHERE run_id = '${run}' RETURNING document`;
    expect(await fleet.postgres.sql(other)).toMatchObject([{ document: { secrets: ["other"] } }]);
    await approveRun(fleet, { id: run, actor: "ada", fingerprint: fingerprint ?? "" });
    const ended = await fleet.until(run);
    expect(ended).toMatchObject({ status: "stale", exit_code: 6 });
    expect(ended.reasons.join()).toContain("a secret has changed since the plan was approved");
  });

  it("say who holds the lock that an approved one waits for, and since when, as the command line does", async () => {
    const driver = createPostgresDriver({ name: "shop/locked" }, fleet.postgres.credentials);
    const [created, expires] = [new Date().toISOString(), new Date(Date.now() + 3_600_000).toISOString()];
    const ann = { id: "lock-of-ann", who: "ann@laptop", pid: 7, host: "laptop", operation: "apply" };
    const { run, manifest } = await fleet.add("locked", manifestText("locked", ["a"]), "none");
    const { fingerprint } = await fleet.until(run, "needs_approval");
    const taken = await driver.take({ ...ann, created, heartbeat: created, expires });
    if (taken.is !== "taken") throw new Error("the lock is held already");
    await approveRun(fleet, { id: run, actor: "ada", fingerprint: fingerprint ?? "" });
    const rowOf = () => runsOf(fleet.database, []).where("id", "=", run).executeTakeFirstOrThrow();
    const held = `ann@laptop (process 7) has held it for apply since ${created}`;
    await expect.poll(async () => (await rowOf()).why, { timeout: 30_000 }).toContain(held);
    const listed = manifestsOf(fleet.database, ["shop"]).where("id", "=", manifest);
    expect(await listed.executeTakeFirst()).toMatchObject({
      status: "approved",
      why: expect.stringContaining(held),
    });
    await driver.release(taken.lease);
    expect((await fleet.until(run)).status).toBe("applied");
    expect((await rowOf()).why).toBeNull();
    expect(await listed.executeTakeFirst()).toMatchObject({ why: null });
  });

  it("wait under the same id while later plans are the same, which say so", async () => {
    const { run, manifest } = await fleet.add("same", manifestText("same", ["a"]), "none");
    await fleet.until(run, "needs_approval");
    for (const kind of ["drift", "reconcile"] as const) {
      const later = await requestRun(fleet, { ...asking, id: manifest, kind });
      const ended = await fleet.until("run" in later ? later.run : "", "needs_approval");
      expect(ended).toMatchObject({ status: "superseded", kind: "reconcile", exit_code: 8 });
      expect(ended.reasons.join()).toContain(run);
    }
    expect((await fleet.run(run)).status).toBe("needs_approval");
  });

  it("of checks plan the newest commit again until a plan of it was made, and its trouble stays", async () => {
    const broken = "apiVersion: graphform/v1\nname: again\ninstances: { a: { tier: gold } }\n";
    const { run, manifest } = await fleet.add("again", manifestText("again", ["a"]));
    expect((await fleet.until(run)).status).toBe("applied");
    const files = { "graphform.yaml": broken };
    const uploaded = await uploadFiles(fleet, { id: manifest, files, actor: "ada" });
    const first = await fleet.until("run" in uploaded ? (uploaded.run ?? "") : "");
    expect(first).toMatchObject({ status: "errored", exit_code: 3 });
    const check = await requestRun(fleet, { ...asking, id: manifest, kind: "drift", trigger: "schedule" });
    const second = await fleet.until("run" in check ? check.run : "");
    expect(second).toMatchObject({ status: "errored", kind: "reconcile", commit: uploadDigest(files) });
    const row = fleet.database.selectFrom("manifests").selectAll().where("id", "=", manifest);
    const before = { "graphform.yaml": manifestText("again", ["a"]) };
    expect(await row.executeTakeFirstOrThrow()).toMatchObject({
      trouble: expect.stringContaining("graphform.yaml:3"),
      approved_commit: uploadDigest(before),
      planned_commit: uploadDigest(before),
    });
    const again = await uploadFiles(fleet, { id: manifest, files, actor: "ada" });
    expect(again).toEqual({ run: expect.any(String) });
  });

  it("of drift are refused and superseded when another commit was applied since their plan", async () => {
    const { run, manifest } = await fleet.add("moved-on", manifestText("moved-on", ["a"]));
    expect((await fleet.until(run)).status).toBe("applied");
    const { tenant, generation } = await fleet.run(run);
    const { id } = await fleet.database
      .insertInto("runs")
      .values({
        ...{
          manifest_id: manifest,
          tenant,
          generation,
          kind: "drift",
          trigger: "schedule",
          actor: "controller",
        },
        ...{ status: "needs_approval", commit: "earlier", fingerprint: "f" },
      })
      .returning("id")
      .executeTakeFirstOrThrow();
    expect(await approveRun(fleet, { id, actor: "ada", fingerprint: "f" })).toMatchObject({
      refused: "changed",
    });
    expect((await fleet.run(id)).status).toBe("superseded");
  });

  it("keep events whose texts PostgreSQL does not take for JSON, without what it refuses", async () => {
    const { run } = await fleet.add("texts", manifestText("texts", ["a"]), "none");
    const { fence } = await fleet.until(run, "needs_approval");
    const message = `a${String.fromCharCode(0)}b${String.fromCharCode(0xd83d)}c`;
    await fleet.database
      .transaction()
      .execute((tx) => addEvents(tx, run, fence, [{ type: "note", message }]));
    const events = fleet.database.selectFrom("run_events").select("event").where("run_id", "=", run);
    expect((await events.execute()).map(({ event }) => event)).toContainEqual({
      type: "note",
      message: "ab\ufffdc",
    });
  });

  it("of an older manifest are superseded by a new upload", async () => {
    const { run, manifest } = await fleet.add("newer", manifestText("newer", ["a"]), "none");
    const first = await fleet.until(run, "needs_approval");
    const files = { "graphform.yaml": manifestText("newer", ["a", "b"]) };
    const uploaded = await uploadFiles(fleet, { id: manifest, files, actor: "ada" });
    const next = "run" in uploaded ? (uploaded.run ?? "") : "";
    expect((await fleet.run(run)).status).toBe("superseded");
    const fingerprint = first.fingerprint ?? "";
    expect(await approveRun(fleet, { id: run, actor: "ada", fingerprint })).toMatchObject({
      refused: "not-waiting",
    });
    expect((await fleet.until(next, "needs_approval")).counts).toEqual({ create: 2 });
    expect(await discardRun(fleet, { id: next, actor: "ada" })).toBe("discarded");
  });

  it("of checks that are due compare with what was approved last; the next one is due a whole interval later", async () => {
    const { run, manifest } = await fleet.add("due", manifestText("due", ["a"]));
    expect((await fleet.until(run)).status).toBe("applied");
    await fleet.database
      .updateTable("manifests")
      .set({ next_due_at: new Date(0) })
      .where("id", "=", manifest)
      .execute();
    await tick(fleet);
    const check = await fleet.database
      .selectFrom("runs")
      .select("id")
      .where("manifest_id", "=", manifest)
      .where("kind", "=", "drift")
      .executeTakeFirstOrThrow();
    expect((await fleet.until(check.id)).status).toBe("planned_and_finished");
    const { next_due_at } = await fleet.database
      .selectFrom("manifests")
      .select("next_due_at")
      .where("id", "=", manifest)
      .executeTakeFirstOrThrow();
    expect(next_due_at.getTime() % 3_600_000).toBe(0);
  });

  it("of a check that is due begin while the row of another manifest is locked", async () => {
    const [held, free] = [
      await fleet.add("held", manifestText("held", ["a"])),
      await fleet.add("free", manifestText("free", ["a"])),
    ];
    for (const { run } of [held, free]) expect((await fleet.until(run)).status).toBe("applied");
    for (const [at, { manifest }] of [held, free].entries()) {
      const due = fleet.database.updateTable("manifests").set({ next_due_at: new Date(at) });
      await due.where("id", "=", manifest).execute();
    }
    const session = await fleet.postgres.session();
    await session.query("BEGIN");
    await session.query("SELECT FROM graphform.manifests WHERE id = $1 FOR UPDATE", [held.manifest]);
    const ticked = tick(fleet);
    const begun = async (manifest: string): Promise<number> => {
      const runs = fleet.database.selectFrom("runs").select("id").where("manifest_id", "=", manifest);
      return (await runs.where("kind", "=", "drift").execute()).length;
    };
    await expect.poll(() => begun(free.manifest), { timeout: 20_000 }).toBe(1);
    await ticked;
    expect(await begun(held.manifest)).toBe(0);
    await session.query("ROLLBACK");
    await tick(fleet);
    expect(await begun(held.manifest)).toBe(1);
  });

  it("of drift heal to the approved upload while a newer one waits; the files of others are deleted", async () => {
    const { run, manifest } = await fleet.add("kept", manifestText("kept", ["a"]));
    expect((await fleet.until(run)).status).toBe("applied");
    const none = { actor: "ada", id: manifest, auto: "none" } as const;
    expect(await changeManifest(fleet, none)).toBe("changed");
    for (const databases of [
      ["a", "b"],
      ["a", "c"],
    ]) {
      const files = { "graphform.yaml": manifestText("kept", databases) };
      const uploaded = await uploadFiles(fleet, { id: manifest, files, actor: "ada" });
      const next = "run" in uploaded ? (uploaded.run ?? "") : "";
      expect((await fleet.until(next, "needs_approval")).status).toBe("needs_approval");
    }
    const checked = await requestRun(fleet, { ...asking, id: manifest, kind: "drift", trigger: "schedule" });
    const ended = await fleet.until("run" in checked ? checked.run : "");
    expect(ended).toMatchObject({
      kind: "drift",
      status: "planned_and_finished",
      commit: uploadDigest({ "graphform.yaml": manifestText("kept", ["a"]) }),
    });
    const kept = await fleet.database
      .selectFrom("uploads")
      .select("files")
      .where("manifest_id", "=", manifest)
      .execute();
    expect(kept.map(({ files }) => files["graphform.yaml"]?.includes("kept-b"))).toEqual([false, false]);
  });

  it("of another name with the same source wait for a person, as long as they would make everything twice", async () => {
    const text = manifestText("first", ["a"]);
    const first = await fleet.add("first", text);
    expect((await fleet.until(first.run)).status).toBe("applied");
    await removeManifest(fleet, { id: first.manifest, actor: "ada" });
    const second = await fleet.add("second", text);
    const waiting = await fleet.until(second.run, "needs_approval");
    expect(waiting).toMatchObject({ status: "needs_approval", verdict: "risky" });
    expect(waiting.reasons[0]).toMatch(
      /^first, which was removed, has the same source, .*graphform state migrate/,
    );
    await removeManifest(fleet, { id: second.manifest, actor: "ada" });
    const again = await fleet.until((await fleet.add("first", text)).run);
    expect(again).toMatchObject({ status: "planned_and_finished" });
  });

  it("of drift wait for no second approval of the same plan, and none of an older commit", async () => {
    const { run, manifest } = await fleet.add("twin", manifestText("twin", ["a"]), "none");
    await fleet.until(run, "needs_approval");
    await fleet.postgres.sql("UPDATE graphform.manifests SET approved_commit = commit WHERE id = $1", [
      manifest,
    ]);
    const check = { ...asking, id: manifest, kind: "drift", trigger: "schedule" } as const;
    const checked = await requestRun(fleet, check);
    const same = await fleet.until("run" in checked ? checked.run : "", "needs_approval");
    expect(same).toMatchObject({ kind: "drift", status: "superseded", exit_code: 8 });
    // A plan of drift waits, and the planning of a reconcile finds a newer commit.
    await fleet.postgres.sql("UPDATE graphform.runs SET kind = 'drift' WHERE id = $1", [run]);
    worker.kill("SIGSTOP");
    const files = { "graphform.yaml": manifestText("twin", ["a", "b"]) };
    const uploaded = await uploadFiles(fleet, { id: manifest, files, actor: "ada" });
    const [newer] = "run" in uploaded ? [uploaded.run ?? ""] : [];
    await fleet.postgres.sql(
      "UPDATE graphform.runs SET status = 'needs_approval', ended_at = NULL WHERE id = $1",
      [run],
    );
    worker.kill("SIGCONT");
    expect((await fleet.until(newer ?? "", "needs_approval")).status).toBe("needs_approval");
    expect((await fleet.run(run)).status).toBe("superseded");
  });

  it("are canceled at once before they begin", async () => {
    const { run } = await fleet.add("canceled", manifestText("canceled", ["a"]), "none");
    await fleet.until(run, "needs_approval");
    expect(await cancelRun(fleet, { id: run, actor: "ada" })).toBe("canceled");
    expect(await cancelRun(fleet, { id: run, actor: "ada" })).toMatchObject({ refused: "ended" });
  });

  it("with an invalid manifest end with its problems", async () => {
    const { run } = await fleet.add(
      "invalid",
      "apiVersion: graphform/v1\nname: invalid\ninstances: { a: { tier: gold } }\n",
    );
    const ended = await fleet.until(run);
    expect(ended).toMatchObject({ status: "errored", exit_code: 3 });
    expect(ended.reasons.join()).toMatch(/graphform\.yaml:3:\d+: /);
  });

  it("of a commit that cannot be read any more end, and drift is healed to the one before", async () => {
    const first = await fleet.add("gone", manifestText("gone", ["a"]), "none");
    const approve = async (id: string): Promise<string> => {
      const { fingerprint } = await fleet.until(id, "needs_approval");
      await approveRun(fleet, { id, actor: "ada", fingerprint: fingerprint ?? "" });
      return (await fleet.until(id)).status;
    };
    expect(await approve(first.run)).toBe("applied");
    const files = { "graphform.yaml": manifestText("gone", ["a", "b"]) };
    const second = await uploadFiles(fleet, { id: first.manifest, actor: "ada", files });
    const run = "run" in second ? (second.run ?? "") : "";
    await fleet.until(run, "needs_approval");
    const uploads = fleet.database.deleteFrom("uploads").where("manifest_id", "=", first.manifest);
    await uploads.where("digest", "=", uploadDigest(files)).execute();
    expect(await approve(run)).toBe("errored");
    const manifests = fleet.database.selectFrom("manifests").select("approved_commit");
    const row = await manifests.where("id", "=", first.manifest).executeTakeFirstOrThrow();
    expect(row.approved_commit).not.toBe(uploadDigest(files));
  });

  it("of an upload with a password in clear are refused, and its files go when it is removed", async () => {
    const text = manifestText("open", ["a"]).replace("${secret.db}", "letters-in-clear");
    const { run, manifest } = await fleet.add("open", text);
    const ended = await fleet.until(run);
    expect(ended).toMatchObject({ status: "errored", exit_code: 3 });
    expect(ended.reasons.join()).toMatch(/graphform\.yaml:5:\d+: .*is not taken from a secret/);
    expect(ended.reasons.join()).not.toContain("letters-in-clear");
    const kept = fleet.database.selectFrom("uploads").select("digest").where("manifest_id", "=", manifest);
    expect(await kept.execute(), "the refused files").toEqual([]);
    await uploadFiles(fleet, {
      id: manifest,
      actor: "ada",
      files: { "graphform.yaml": manifestText("open", ["a"]) },
    });
    expect(await kept.execute()).toHaveLength(1);
    await removeManifest(fleet, { id: manifest, actor: "ada" });
    await expect.poll(() => tick(fleet).then(() => kept.execute()), { timeout: 30_000 }).toEqual([]);
  });

  it.each([
    ["does not parse", (text: string) => `${text}  b: [\n`],
    ["has another version", (text: string) => text.replace("graphform/v1", "graphform/v9")],
    ["has a misspelt key", (text: string) => text.replace("graphdbPassword", "graphdbPasswort")],
    ["names the secret itself", (text: string) => text.replace("{ env: SHOP_DB }", "letters-in-clear")],
  ])("of an upload that %s keep no file in which a password may stand, and say so", async (name, spoil) => {
    const short = name.replaceAll(" ", "-");
    const text = spoil(manifestText(short, ["a"])).replace("${secret.db}", "letters-in-clear");
    const { run, manifest } = await fleet.add(short, text);
    const ended = await fleet.until(run);
    expect(ended).toMatchObject({ status: "errored", exit_code: 3 });
    expect(ended.reasons.join()).toContain("its files are deleted");
    expect(ended.reasons.join()).not.toContain("letters-in-clear");
    const kept = fleet.database.selectFrom("uploads").select("digest").where("manifest_id", "=", manifest);
    expect(await kept.execute()).toEqual([]);
    // A check of the files that are gone leaves the reason as it is.
    const again = await requestRun(fleet, { id: manifest, actor: "ada" });
    expect((await fleet.until("run" in again ? again.run : "")).status).toBe("errored");
    const rows = await fleet.postgres.sql("SELECT trouble FROM graphform.manifests WHERE id = $1", [
      manifest,
    ]);
    expect(rows[0]?.["trouble"]).toContain("its files are deleted");
  });

  it("asked for while one is at work follow it: no wake-up is lost", async () => {
    const { manifest } = await fleet.add("busy", manifestText("busy", ["a"]));
    const filesOf = (turn: number) => ({ "graphform.yaml": `${manifestText("busy", ["a"])}# ${turn}\n` });
    for (let turn = 0; turn < 30; turn += 1) {
      const files = filesOf(turn);
      await uploadFiles(fleet, { id: manifest, files, actor: "ada" });
      await pause((turn * 37) % 150);
    }
    const open = async (): Promise<number> => {
      const rows = await fleet.database
        .selectFrom("runs")
        .select("id")
        .where("manifest_id", "=", manifest)
        .where("ended_at", "is", null)
        .execute();
      return rows.length;
    };
    while ((await open()) > 0) await pause(200);
    const { commit, approved_commit, dirty } = await fleet.database
      .selectFrom("manifests")
      .selectAll()
      .where("id", "=", manifest)
      .executeTakeFirstOrThrow();
    const last = uploadDigest(filesOf(29));
    expect({ commit, approved_commit, dirty }).toEqual({ commit: last, approved_commit: last, dirty: false });
  });

  it("are kept from nothing by a state beside theirs that PostgreSQL cannot read as JSON", async () => {
    // Valid JSON, which a pipeline may store: a null character has no place in PostgreSQL's own texts.
    const document = '{"serial":1,"intents":{},"resources":{"a":{"id":"\\u0000"}}}';
    await fleet.postgres.sql(
      "INSERT INTO graphform.states VALUES ('shop/strange', 1, 'l', 1, 1, $1, now()), ('shop/other', 1, 'l', 1, 1, 'no JSON', now())",
      [document],
    );
    const { run } = await fleet.add("beside", manifestText("beside", ["a"]));
    expect((await fleet.until(run)).status).toBe("applied");
    const [own] = await fleet.postgres.sql(
      "SELECT facts, document FROM graphform.states WHERE name = 'shop/beside'",
    );
    const [resource] = Object.values<{ id: string }>(JSON.parse(`${own?.["document"]}`).resources);
    expect(JSON.parse(`${own?.["facts"]}`)).toEqual({ ids: [resource?.id], settled: true });
  });

  it("whose job ended too often end, and what was asked for meanwhile begins", async () => {
    const { run, manifest } = await fleet.add("buried", manifestText("buried", ["a"]), "none");
    await fleet.until(run, "needs_approval");
    const stuck = { status: "applying", worker: "one that ended" } as const;
    await fleet.database.updateTable("runs").set(stuck).where("id", "=", run).execute();
    const asked = await requestRun(fleet, { id: manifest, ...asking });
    expect(asked).toEqual({ run });
    await buryRun(fleet, run);
    expect(await fleet.run(run)).toMatchObject({ status: "errored", exit_code: 1 });
    const next = await fleet.database
      .selectFrom("runs")
      .select("id")
      .where("manifest_id", "=", manifest)
      .where("id", "!=", run)
      .executeTakeFirstOrThrow();
    expect((await fleet.until(next.id, "needs_approval")).status).toBe("needs_approval");
  });

  it("leave an audit log that shows a change", async () => {
    expect(await verifyAudit(fleet.database)).toBeUndefined();
    const change = "UPDATE graphform.audit SET actor = 'eve' WHERE id = 3";
    await expect(fleet.postgres.sql(change)).rejects.toThrow(/only added to/);
    await fleet.postgres.sql(`ALTER TABLE graphform.audit DISABLE TRIGGER audit_is_final; ${change}`);
    expect(await verifyAudit(fleet.database)).toBe(3);
  });
});
