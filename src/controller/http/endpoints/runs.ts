/** @module Endpoints of runs and of what people decide about them. */
import {
  approveRun,
  cancelRun,
  type DecidingWorld,
  discardRun,
  type Refused,
  type RunDecision,
} from "../../runs/decide.ts";
import { statuses } from "../../runs/transitions.ts";
import { bodies, idSchema, nameSchema, type Schema } from "../documents.ts";
import { type Endpoint, endpoint } from "../endpoint.ts";
import { streamEvents } from "../events.ts";
import { decided, Problem } from "../problem.ts";
import { findRun, found, runPage, runsOf, tenants } from "../rows.ts";
import { paging } from "./manifests.ts";

const one = "/api/v1/runs/{run}";
const runPaging = { tenant: nameSchema, limit: paging.limit, after: idSchema };

export const runEndpoints: readonly Endpoint[] = [
  endpoint(
    "GET /api/v1/runs",
    ["listRuns", "Lists runs, newest first", "viewer"],
    { query: { manifest: nameSchema, status: { enum: statuses }, ...runPaging }, answers: { 200: "Runs" } },
    ({ world: { database }, caller, query }) => {
      const { manifest } = query;
      const status = statuses.find((one) => one === query.status);
      let runs = runsOf(database, tenants(caller, query));
      if (status !== undefined) runs = runs.where("status", "=", status);
      if (manifest !== undefined)
        runs = runs.where("manifest_id", "in", (from) =>
          from.selectFrom("manifests").select("manifests.id").where("manifests.name", "=", manifest),
        );
      return runPage(runs, query);
    },
  ),
  endpoint(
    "GET /api/v1/approvals",
    ["listApprovals", "Lists the runs that wait for an approval, newest first", "viewer"],
    { query: runPaging, answers: { 200: "Runs" } },
    ({ world: { database }, caller, query }) => {
      const open = runsOf(database, tenants(caller, query)).where("ended_at", "is", null);
      return runPage(open.where("status", "=", "needs_approval"), query);
    },
  ),
  endpoint(
    `GET ${one}`,
    ["showRun", "Shows a run and what was decided about it", "viewer"],
    { answers: { 200: "RunDetails" } },
    async (call) => {
      const run = await findRun(call);
      const decisions = await call.world.database
        .selectFrom("approvals")
        .selectAll()
        .where("run_id", "=", run.id)
        .orderBy("id")
        .execute();
      return { run, decisions };
    },
  ),
  endpoint(
    `GET ${one}/plan`,
    ["showPlan", "Shows the plan of a run", "viewer"],
    { answers: { 200: "Plan" } },
    async (call) => {
      const { id } = await findRun(call);
      const { database } = call.world;
      const row = database.selectFrom("plans").select("document").where("run_id", "=", id);
      return found(await row.executeTakeFirst(), "the run has no plan").document;
    },
  ),
  endpoint(
    `GET ${one}/events`,
    [
      "followRun",
      "Streams the events of a run from the one after Last-Event-ID on, until it has ended",
      "viewer",
    ],
    { answers: { 200: "text/event-stream", 204: null } },
    async (call) => {
      const { id } = await findRun(call);
      const last = call.headers.get("last-event-id") ?? "0";
      if (!/^\d{1,15}$/.test(last)) throw new Problem("invalid-request", "the Last-Event-ID is none of ours");
      return streamEvents(call, id, Number(last));
    },
  ),
  decision<{ readonly fingerprint: string }>(
    ["approve", "Approves exactly the plan with this fingerprint"],
    bodies.approval,
    approveRun,
  ),
  decision<object>(
    ["discard", "Ends a run that waits, or was approved and has not begun"],
    bodies.empty,
    discardRun,
  ),
  decision<{ readonly force?: boolean }>(
    ["cancel", "Asks for the end of a run; by force, a minute later, without its worker"],
    bodies.cancel,
    cancelRun,
  ),
];

/** An endpoint for a decision about a run; its body is the rest of the decision. */
function decision<Body extends object>(
  [id, summary]: readonly [id: string, summary: string],
  body: Schema,
  decide: (world: DecidingWorld, decision: RunDecision & Body) => Promise<string | Refused>,
): Endpoint {
  const terms = { body, answers: { 200: "Done" } };
  return endpoint<Body>(`POST ${one}/${id}`, [id, summary, "approver"], terms, async (call) => {
    const run = await findRun(call);
    return decided(await decide(call.world, { ...call.body, run: run.id, actor: call.caller.actor }));
  });
}
