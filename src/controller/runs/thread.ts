/** @module Plans and applies in a thread of its own: a large document never keeps a worker from its heartbeats. */
import { basename } from "node:path";
import { parentPort } from "node:worker_threads";
import {
  apply,
  formatPlan,
  GraphformError,
  loadManifest,
  ManifestError,
  openService,
  openState,
  type Plan,
  plan,
} from "../../index.ts";
import type { Applied, Approved, Failure, FromThread, Order, ToThread } from "./orders.ts";
import { beyond, difference, type PlanDocument } from "./verdict.ts";

/** Events of one apply that say nothing new within this time are left out, in ms. */
const progressEvery = 5_000;

const running = new Map<number, AbortController>();

parentPort?.on("message", (message: ToThread) => {
  if (message.type === "stop")
    running.get(message.id)?.abort(new GraphformError("stopped", "the run was told to stop"));
  else void carryOut(message);
});

async function carryOut(message: Exclude<ToThread, { readonly type: "stop" }>): Promise<void> {
  const { id, order } = message;
  const stopping = new AbortController();
  running.set(id, stopping);
  try {
    if (message.type === "plan") say({ type: "planned", id, plan: await planOf(order, stopping.signal) });
    else say({ type: "applied", id, applied: await applyOf(id, order, message.approved, stopping.signal) });
  } catch (error) {
    say({ type: "failed", id, failure: failureOf(error) });
  } finally {
    running.delete(id);
  }
}

async function planOf(order: Order, signal: AbortSignal): Promise<PlanDocument> {
  return withHandles(order, async (handles) => documentOf(await plan({ ...handles, signal }), order));
}

/** Applies what was approved. The plan that is made under the lock must be that plan, or what an earlier worker has left of it. */
async function applyOf(id: number, order: Order, approved: Approved, signal: AbortSignal): Promise<Applied> {
  return withHandles(order, async (handles) => {
    let refused: Applied | undefined;
    const said = new Map<string, number>();
    const outcome = await apply({
      ...handles,
      signal,
      approve: async (fresh) => {
        if (fresh.fingerprint === approved.fingerprint) return true;
        const document = await documentOf(fresh, order);
        const why = approved.isResumed
          ? beyond(approved.document, document)
          : difference(approved.document, document);
        if (why !== undefined) refused = { refused: document, why };
        return why === undefined;
      },
      onEvent: (event) => {
        if (event.type === "step-progress") {
          if (event.elapsed - (said.get(event.key) ?? -progressEvery) < progressEvery) return;
          said.set(event.key, event.elapsed);
        }
        say({ type: "event", id, event });
      },
    });
    if (refused !== undefined) return refused;
    if (outcome === undefined) return { exitCode: 0, reasons: [] };
    const failed = outcome.steps.filter(({ result }) => result !== "done");
    return {
      exitCode: outcome.exitCode,
      reasons: [
        ...failed
          .slice(0, 50)
          .map(
            ({ address, result, message = "" }) =>
              `${address}: ${result}${message === "" ? "" : `: ${message}`}`,
          ),
        ...outcome.certificate.slice(0, 50).map(({ address, reason }) => `${address}: ${reason}`),
      ],
    };
  });
}

type Handles = Pick<Parameters<typeof apply>[0], "manifest" | "service" | "state" | "boundElsewhere">;

async function withHandles<T>(
  { files, env, limits, service: at, state: path, boundElsewhere }: Order,
  work: (handles: Handles) => Promise<T>,
): Promise<T> {
  const { profile, ...place } = at;
  const request = { files, env, limits, ...(profile === undefined ? {} : { profile }) };
  const manifest = await loadManifest(request);
  const state = openState(manifest, { path });
  const service = await openService(manifest, { ...place, env });
  try {
    return await work({ manifest, service, state, boundElsewhere: new Set(boundElsewhere) });
  } finally {
    await service.close();
  }
}

/** The plan's document, with the names of its files without the folder of the checkout, which is gone when people read them. */
async function documentOf(made: Plan, { limits }: Order): Promise<PlanDocument> {
  return JSON.parse((await formatPlan(made, "json")).replaceAll(`${limits.folder}/`, ""));
}

function failureOf(error: unknown): Failure {
  if (error instanceof ManifestError) {
    const lines = error.problems
      .slice(0, 20)
      .map(
        ({ range, message, hint }) =>
          `${basename(range.file)}:${range.start.line}:${range.start.column}: ${message}${hint === undefined ? "" : ` (${hint})`}`,
      );
    return { code: error.code, message: lines.join("\n"), exitCode: error.exitCode };
  }
  if (error instanceof GraphformError) {
    const { code, message, hint, exitCode } = error;
    return { code, message, exitCode, ...(hint === undefined ? {} : { hint }) };
  }
  // The words of a foreign error may quote a secret.
  return {
    code: "unexpected",
    message: `an unexpected error (${error instanceof Error ? error.name : typeof error})`,
    exitCode: 1,
  };
}

function say(message: FromThread): void {
  parentPort?.postMessage(message);
}
