/** @module Endpoints of runs and of what people decide about them; the events of a run as server-sent events. */
import { setTimeout as pause } from "node:timers/promises";
import type { Database } from "../../database/connect.ts";
import { approveRun, cancelRun, type Decision, discardRun } from "../../runs/decide.ts";
import { isEnd, type RunEvent, type RunStatus, statuses } from "../../runs/transitions.ts";
import type { Call, Handlers } from "../endpoint.ts";
import { decided, Problem } from "../problem.ts";
import { findRun, found, runPage, runsOf, tenants } from "../rows.ts";
import { isInForce } from "../tokens.ts";

export const runHandlers: Handlers = {
  async listRuns({ context: { database }, caller, query }) {
    const { manifest } = query;
    const status = statuses.find((known) => known === query.status);
    let runs = runsOf(database, tenants(caller, query));
    if (status !== undefined) runs = runs.where("status", "=", status);
    if (manifest !== undefined)
      runs = runs.where("manifest_id", "in", (from) =>
        from.selectFrom("manifests").select("manifests.id").where("manifests.name", "=", manifest),
      );
    return runPage(runs, query);
  },
  async listApprovals({ context: { database }, caller, query }) {
    const open = runsOf(database, tenants(caller, query)).where("ended_at", "is", null);
    return runPage(open.where("status", "=", "needs_approval"), query);
  },
  async showRun(call) {
    const run = await findRun(call);
    const decisions = call.context.database.selectFrom("approvals").selectAll().where("run_id", "=", run.id);
    return { run, decisions: await decisions.orderBy("id").execute() };
  },
  async showPlan(call) {
    const { id } = await findRun(call);
    const row = call.context.database.selectFrom("plans").select("document").where("run_id", "=", id);
    const { secrets: _, ...shown } = found(await row.executeTakeFirst(), "the run has no plan").document;
    return shown;
  },
  async followRun(call) {
    const { id } = await findRun(call);
    const last = call.headers.get("last-event-id") ?? "0";
    if (!/^\d{1,15}$/.test(last)) throw new Problem("invalid-request", "the Last-Event-ID is none of ours");
    return streamEvents(call, id, Number(last));
  },
  approve: deciding(approveRun),
  discard: deciding(discardRun),
  cancel: deciding(cancelRun),
};

/** The work of an endpoint for a decision about a run; its body has the terms. */
function deciding<Terms extends object>(decide: Decision<Terms>): (call: Call<Terms>) => Promise<object> {
  return async (call) => {
    const { id } = await findRun(call);
    return decided(await decide(call.context, { ...call.body, id, actor: call.caller.actor }));
  };
}

/** Events that one look reads, and streams that one token may have open, at most. */
const [batch, mostStreams] = [500, 50];

const open = new Map<string, number>();

/**
 * Answers with the events after `last`. The stream ends with an event `end` once the run has ended and everything is sent; a client that
 * comes back after that gets 204, which tells it to stay away. It ends without one if the database goes away, if the token ends, and after
 * the longest time: the client comes back with the id of the last event.
 */
async function streamEvents(call: Call, run: string, last: number): Promise<Response> {
  const { id } = call.caller;
  const first = await look(call.context.database, run, last);
  if (first.ended !== undefined && first.rows.length === 0 && last > 0)
    return new Response(null, { status: 204 });
  if ((open.get(id) ?? 0) >= mostStreams)
    throw new Problem("too-many-requests", "this token has as many streams as it may have", {
      "retry-after": "30",
    });
  const texts = ReadableStream.from(textsOf(call, run, { after: last, seen: first }));
  return new Response(texts.pipeThrough(new TextEncoderStream()), {
    headers: { "content-type": "text/event-stream", "cache-control": "no-store", "x-accel-buffering": "no" },
  });
}

async function* textsOf(
  { context: { database, streams }, caller: { id: token }, signal }: Call,
  run: string,
  { after, seen }: { after: number; seen: Seen },
): AsyncGenerator<string> {
  let checked = performance.now();
  const closes = checked + streams.longest;
  open.set(token, (open.get(token) ?? 0) + 1);
  try {
    yield "retry: 2000\n\n";
    for (;;) {
      for (const { id, at, event } of seen.rows) {
        after = id;
        yield `id: ${id}\nevent: ${event.type}\ndata: ${JSON.stringify({ at, ...event })}\n\n`;
      }
      if (seen.rows.length < batch) {
        if (seen.ended !== undefined) {
          yield `id: ${after}\nevent: end\ndata: ${JSON.stringify(seen.ended)}\n\n`;
          return;
        }
        if (performance.now() > closes) return;
        if (performance.now() - checked > streams.keepAlive) {
          checked = performance.now();
          if (!(await isInForce(database, token))) return;
          yield ": still there\n\n";
        }
        await pause(streams.poll, undefined, { signal });
      }
      seen = await look(database, run, after);
    }
  } catch {
    // The client has left, or the database has gone away: the stream ends.
  } finally {
    const left = (open.get(token) ?? 1) - 1;
    if (left === 0) open.delete(token);
    else open.set(token, left);
  }
}

interface Seen {
  readonly rows: readonly { readonly id: number; readonly at: Date; readonly event: RunEvent }[];
  /** The end of the run; read before the events, so that none comes after it. */
  readonly ended: { readonly status: RunStatus; readonly exitCode: number | null } | undefined;
}

async function look(database: Database, run: string, after: number): Promise<Seen> {
  const found = await database.selectFrom("runs").selectAll().where("id", "=", run).executeTakeFirst();
  const { status, exit_code: exitCode } = found ?? { status: "errored", exit_code: null };
  const events = database.selectFrom("run_events").selectAll().where("run_id", "=", run);
  const rows = await events.where("id", ">", after).orderBy("id").limit(batch).execute();
  return { rows, ended: isEnd(status) ? { status, exitCode } : undefined };
}
