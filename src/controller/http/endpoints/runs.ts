/** @module Endpoints of runs and of what people decide about them. */
import { approveRun, cancelRun, discardRun } from "../../runs/decide.ts";
import { statuses } from "../../runs/transitions.ts";
import { approval, cancel, empty, idSchema, nameSchema, ref } from "../documents.ts";
import { type Endpoint, endpoint, json } from "../endpoint.ts";
import { streamEvents } from "../events.ts";
import { decided, Problem } from "../problem.ts";
import { findRun, runDocument, runPage, runsOf, tenants } from "../rows.ts";
import { paging } from "./manifests.ts";

const one = "/api/v1/runs/{run}";
const runPaging = { limit: paging.limit, after: idSchema };

export const runEndpoints: readonly Endpoint[] = [
  endpoint({
    id: "listRuns",
    method: "GET",
    path: "/api/v1/runs",
    summary: "Lists runs, newest first",
    role: "viewer",
    query: { tenant: nameSchema, manifest: nameSchema, status: { enum: statuses }, ...runPaging },
    answers: { 200: ref("Runs") },
    async handle({ world: { database }, caller, query }) {
      const { status, manifest } = query;
      let found = runsOf(database, tenants(caller, query));
      if (status !== undefined) found = found.where("status", "=", status as never);
      if (manifest !== undefined)
        found = found.where("manifest_id", "in", (from) =>
          from.selectFrom("manifests").select("manifests.id").where("manifests.name", "=", manifest),
        );
      return json(200, await runPage(found, query));
    },
  }),
  endpoint({
    id: "listApprovals",
    method: "GET",
    path: "/api/v1/approvals",
    summary: "Lists the runs that wait for an approval, newest first",
    role: "viewer",
    query: { tenant: nameSchema, ...runPaging },
    answers: { 200: ref("Runs") },
    async handle({ world: { database }, caller, query }) {
      const found = runsOf(database, tenants(caller, query))
        .where("ended_at", "is", null)
        .where("status", "=", "needs_approval");
      return json(200, await runPage(found, query));
    },
  }),
  endpoint({
    id: "showRun",
    method: "GET",
    path: one,
    summary: "Shows a run and what was decided about it",
    role: "viewer",
    answers: { 200: ref("RunDetails") },
    async handle({ world: { database }, caller, path }) {
      const run = await findRun(database, caller, path);
      const decisions = await database
        .selectFrom("approvals")
        .select(["actor", "decision", "fingerprint", "at"])
        .where("run_id", "=", run.id)
        .orderBy("id")
        .execute();
      return json(200, { run: runDocument(run), decisions });
    },
  }),
  endpoint({
    id: "showPlan",
    method: "GET",
    path: `${one}/plan`,
    summary: "Shows the plan of a run",
    role: "viewer",
    answers: { 200: ref("Plan") },
    async handle({ world: { database }, caller, path }) {
      const { id } = await findRun(database, caller, path);
      const { plan } = await database
        .selectFrom("runs")
        .select("plan")
        .where("id", "=", id)
        .executeTakeFirstOrThrow();
      if (plan === null) throw new Problem("not-found", "the run has no plan");
      return json(200, plan);
    },
  }),
  endpoint({
    id: "followRun",
    method: "GET",
    path: `${one}/events`,
    summary:
      "Streams the events of a run as server-sent events, from the one after Last-Event-ID, until it has ended",
    role: "viewer",
    answers: { 200: "text/event-stream", 204: null },
    async handle(call) {
      const { id } = await findRun(call.world.database, call.caller, call.path);
      const last = call.headers.get("last-event-id") ?? "0";
      if (!/^\d{1,15}$/.test(last)) throw new Problem("invalid-request", "the Last-Event-ID is none of ours");
      return streamEvents(call, id, Number(last));
    },
  }),
  endpoint<{ readonly fingerprint: string }>({
    id: "approve",
    method: "POST",
    path: `${one}/approve`,
    summary: "Approves exactly the plan with this fingerprint",
    role: "approver",
    body: approval,
    answers: { 200: ref("Done") },
    repeats: true,
    async handle({ world, caller, path, body: { fingerprint } }) {
      const { id: run } = await findRun(world.database, caller, path);
      return json(200, {
        result: decided(await approveRun(world, { run, actor: caller.actor, fingerprint })),
      });
    },
  }),
  endpoint({
    id: "discard",
    method: "POST",
    path: `${one}/discard`,
    summary: "Ends a run that waits, or was approved and has not begun",
    role: "approver",
    body: empty,
    answers: { 200: ref("Done") },
    repeats: true,
    async handle({ world, caller, path }) {
      const { id: run } = await findRun(world.database, caller, path);
      return json(200, { result: decided(await discardRun(world, { run, actor: caller.actor })) });
    },
  }),
  endpoint<{ readonly force?: boolean }>({
    id: "cancel",
    method: "POST",
    path: `${one}/cancel`,
    summary: "Asks for the end of a run; by force, a minute later, without its worker",
    role: "approver",
    body: cancel,
    answers: { 200: ref("Done") },
    repeats: true,
    async handle({ world, caller, path, body: { force = false } }) {
      const { id: run } = await findRun(world.database, caller, path);
      return json(200, { result: decided(await cancelRun(world, { run, actor: caller.actor, force })) });
    },
  }),
];
