/** @module Plans a run in a thread, and decides the next state: its end, an apply, or the approval of a person. */
import { sql } from "kysely";
import { databaseClock, databaseTime, type Tx } from "../database/connect.ts";
import type { ManifestRow, RunRow } from "../database/schema.ts";
import { newestCommit } from "../sources/git.ts";
import { besides, withCheckout } from "./checkout.ts";
import { busyDelay, type Next, putBack, type Stage } from "./execute-run.ts";
import { unknownWords } from "./made-objects.ts";
import { restoredWords } from "./restored.ts";
import {
  lockManifest,
  moveRun,
  newerManifest,
  outcome,
  overtaken,
  setApproved,
  setManifest,
  storePlan,
  supersede,
  waitingRuns,
} from "./run-moves.ts";
import { databaseAway, threadEnded } from "./thread-pool.ts";
import { making } from "./transitions.ts";
import { changesAnything, type PlanDocument, planColumns, seesUnmanaged } from "./verdict.ts";
import { countOthers, inTransaction, type Taken, type WorkerContext } from "./worker-context.ts";

interface Planned extends ChosenCommit {
  readonly plan: PlanDocument;
}

const neighboursWords =
  "runs on the same service are at work, or have just ended, and what this plan sees there may be theirs: it is planned again";

/** Ms from its creation during which a run is planned again if neighbours are at work. */
const neighbourly = 10 * 60_000;

export const planning: Stage<Planned> = {
  working: "planning",
  ways: [{ from: "pending", to: "planning" }],
  back: async () => ({ from: "planning", to: "pending" }),
  async work(context, taken, { signal }) {
    const found = await chooseCommit(context, taken, signal);
    const make = (needsOthers: boolean): Promise<PlanDocument> =>
      withCheckout(context, taken.manifest, [found.commit, signal, needsOthers], (order) =>
        context.threads.plan(order, signal),
      );
    const plan = await make(false);
    // The ids that others bind matter only to a plan that may take an object for its own.
    return { ...found, plan: seesUnmanaged(plan) ? await make(true) : plan };
  },
  end: endPlanning,
  fail({ run, manifest }, { code, message, exitCode }, back) {
    // The files of an upload go when a newer one comes.
    if (code === "source-gone" && manifest.source.type === "upload" && run.generation < manifest.generation)
      return { from: "planning", to: "superseded", why: message, asking: newerManifest };
    if (code === databaseAway) return { ...back, why: message };
    // An order whose thread ended unexpectedly is tried again; the run counts the attempts.
    if (code === threadEnded) return { from: "planning", to: "pending", why: message, after: busyDelay };
    const { commit, planned_commit: planned, approved_commit: approved, trouble } = manifest;
    const isUpload = manifest.source.type === "upload";
    // A newer upload has replaced the files of an older one; one that was planned before fails for another reason.
    const isNewest = run.generation === manifest.generation && commit !== planned && commit !== approved;
    const isRefused = isUpload && isNewest && unreadable.includes(code);
    const why = isRefused
      ? `${message}\nits files are deleted, since a secret may stand in them: upload them again, corrected`
      : message;
    return {
      ...{ from: "planning", to: "errored", why, columns: outcome(exitCode, [why]) },
      // The later checks of deleted files know no reason.
      manifest: { trouble: isUpload && code === "source-gone" ? (trouble ?? why) : why },
      ...(isRefused ? { forgottenUpload: commit } : {}),
    };
  },
};

/** Codes of files that were not read to their end, so that it is not known whether a secret stands in them, or in which one does. */
const unreadable: readonly string[] = ["manifest-invalid", "source-refused", "source-empty"];

interface ChosenCommit {
  readonly commit: string;
  readonly kind: RunRow["kind"];
}

/**
 * Chooses the commit that the run is about, and stores it, so that another worker can go on. A check plans the newest commit until a plan
 * of it was made that nothing blocks; after that the approved one, so that drift is healed while a newer commit waits for its approval.
 */
async function chooseCommit(
  context: WorkerContext,
  { run, manifest }: Taken,
  signal: AbortSignal,
): Promise<ChosenCommit> {
  const newest = await newestCommit(manifest, context.config.current(), signal);
  const { approved_commit: approved, planned_commit: planned } = manifest;
  const isCheck = run.kind === "drift" && newest === planned && approved !== null;
  const found: ChosenCommit = isCheck
    ? { kind: "drift", commit: approved }
    : { kind: "reconcile", commit: newest };
  const isNew = newest !== manifest.commit;
  if (isNew || found.kind !== run.kind)
    await inTransaction(context, async (tx) => {
      const locked = await lockManifest(tx, manifest.id);
      if (locked === undefined || locked.generation !== manifest.generation) return;
      const generation = locked.generation + (isNew ? 1 : 0);
      await setManifest(tx, manifest.id, { commit: newest, generation });
      const row = tx.updateTable("runs").set({ ...found, generation });
      await row.where((where) => where.and({ id: run.id, fence: run.fence })).execute();
    });
  return found;
}

/** Decides the next state after a plan: the end, an apply, or the approval of a person. */
async function endPlanning(
  tx: Tx,
  { config }: WorkerContext,
  taken: Taken,
  { plan, commit, kind }: Planned,
): Promise<Next | undefined> {
  const { manifest } = taken;
  const { id, fence } = taken.run;
  const row = tx.selectFrom("runs").select("generation").where("id", "=", id);
  const now = await row.forUpdate().executeTakeFirst();
  if (now === undefined) return undefined;
  const newer = overtaken({ kind, commit, ...now }, manifest);
  if (newer !== undefined) return { from: "planning", to: "superseded", ...newer };
  const { tenants } = config.current();
  const neighbours = besides(config.current(), manifest.tenant);
  // Objects that no state bound may be those that another run makes just now, or made while this one was planned.
  if (seesUnmanaged(plan) && (await countOthers(tx, id, ["tenant", neighbours], making, true)) > 0) {
    const age = (await databaseTime(tx)).getTime() - taken.run.created_at.getTime();
    if (age < neighbourly)
      return { ...(await putBack(tx, planning, taken, busyDelay)), why: neighboursWords };
  }
  const hasChanges = changesAnything(plan);
  const { restored_to: restored } = manifest;
  const makesAll = Object.values(plan.x_graphform.changes).every(({ action }) => action === "create");
  const doubts = [
    ...(restored === null ? [] : [restoredWords(restored), ...(await unknownWords(tx, manifest))]),
    ...(makesAll ? await otherNames(tx, manifest) : []),
  ];
  const columns = { ...planColumns(plan, hasChanges ? doubts : []), commit, kind };
  const drifted = hasChanges
    ? kind === "drift"
      ? (manifest.drifted_at ?? databaseClock)
      : manifest.drifted_at
    : null;
  const isBlocked = hasChanges && !plan.applyable;
  const planned = kind === "reconcile" && !isBlocked ? { planned_commit: commit } : {};
  const facts = { manifest: { checked_at: databaseClock, trouble: null, drifted_at: drifted, ...planned } };
  const waiting = await waitingRuns(tx, manifest.id);
  const same = waiting.find(
    (run) => run.commit === commit && run.fingerprint === columns.fingerprint && !overtaken(run, manifest),
  );
  if (same !== undefined) {
    const why = `the same plan waits for an approval: run ${same.id}`;
    return { from: "planning", to: "superseded", why, columns: outcome(8, [why]), ...facts };
  }
  if (!(await moveRun(tx, id, { from: "planning", to: "planned" }, { fence }, columns))) return undefined;
  await storePlan(tx, id, plan);
  // A plan of drift stands beside that of a newer commit, unless it was made before that.
  const isOutdated = (run: RunRow): boolean => run.kind === kind || run.generation < manifest.generation;
  await supersede(tx, waiting.filter(isOutdated));
  if (!hasChanges) {
    await setApproved(tx, manifest, commit);
    return { from: "planned", to: "planned_and_finished", columns: { exit_code: 0 }, ...facts };
  }
  if (isBlocked) return { from: "planned", to: "blocked", columns: { exit_code: 4 }, ...facts };
  await moveRun(tx, id, { from: "planned", to: "policy_checked" });
  if (columns.verdict === "risky") return { from: "policy_checked", to: "needs_approval", ...facts };
  if (manifest.auto === "safe" && tenants[manifest.tenant]?.auto === "safe")
    return { from: "policy_checked", to: "approved", why: "safe: by the rules of the tenant", ...facts };
  const why = "safe, but `auto` of the manifest or of its tenant leaves every change to a person";
  return { from: "policy_checked", to: "needs_approval", why, ...facts };
}

/**
 * Says which other manifest, also a removed one, has the same source, and objects in its state, if this one has none yet: it may be this one
 * under another name, and every object would be made a second time.
 */
async function otherNames(tx: Tx, { id, tenant }: ManifestRow): Promise<readonly string[]> {
  const { rows } = await sql<{ name: string; removed: boolean }>`
    WITH sources AS (
      SELECT m.id, m.name, m.removed_at IS NOT NULL AS removed,
        CASE source ->> 'type' WHEN 'git' THEN regexp_replace(source ->> 'url', '(\\.git)?/*$', '') || ' '
          || regexp_replace(source ->> 'path', '^(\\./)+|/+$', '', 'g') ELSE commit END AS source,
        coalesce(jsonb_array_length(s.facts::jsonb -> 'ids') > 0, false) AS binds
      FROM graphform.manifests m LEFT JOIN graphform.states s ON s.name = m.tenant || '/' || m.name WHERE tenant = ${tenant})
    SELECT other.name, other.removed FROM sources own, sources other
    WHERE own.id = ${id} AND NOT own.binds AND other.binds AND other.source = own.source AND other.name <> own.name
    ORDER BY other.removed LIMIT 1`.execute(tx);
  return rows.map(
    ({ name, removed }) =>
      `${name}${removed ? ", which was removed," : ""} has the same source, and its databases are bound in its own state: this plan makes each a second time. To change a name, move the state to the new one with \`graphform state migrate\`, or add the manifest as ${name} again`,
  );
}
