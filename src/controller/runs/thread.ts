/** @module Plans and applies in a thread of its own: a large document never keeps a worker from its heartbeats. */
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
  validate,
} from "../../index.ts";
import {
  type Applied,
  type Approved,
  type FromThread,
  failureOf,
  type Order,
  type StateFacts,
  type ToThread,
} from "./thread-pool.ts";
import { appeared, beyond, difference, hasOtherSecret, type PlanDocument } from "./verdict.ts";

/** Events of one apply that say nothing new within this time are left out, in ms. */
const progressEvery = 5_000;

let stopping = new AbortController();

parentPort?.on("message", (message: ToThread) => {
  if (message === "stop") stopping.abort(new GraphformError("stopped", "the run was told to stop"));
  else void executeOrder(message);
});

async function executeOrder(order: Order): Promise<void> {
  stopping = new AbortController();
  const { signal } = stopping;
  const { approved } = order;
  try {
    const done = await withHandles(order, async (handles) =>
      approved === undefined
        ? documentOf(await plan({ ...handles, signal }), order)
        : applyWithin(approved, handles, order, signal),
    );
    say({ done });
  } catch (error) {
    say({ failure: failureOf(error) });
  }
}

/** Applies the approved plan. The plan that is made under the lock must equal it, or the rest of it that an earlier worker left. */
async function applyWithin(
  approved: Approved,
  handles: Handles,
  order: Order,
  signal: AbortSignal,
): Promise<Applied> {
  let refused: Applied | undefined;
  const said = new Map<string, number>();
  const outcome = await apply({
    ...handles,
    signal,
    approve: async (fresh) => {
      const isSame = fresh.fingerprint === approved.fingerprint;
      const isOther = hasOtherSecret(approved.document, sentSecrets(fresh));
      if (isSame && !isOther && !approved.isOld) return true;
      const document = await documentOf(fresh, order);
      const compare = approved.isResumed ? beyond : difference;
      const why =
        (isOther ? "a secret has changed since the plan was approved" : undefined) ??
        (isSame ? undefined : compare(approved.document, document)) ??
        (approved.isOld ? appeared(approved.document, document) : undefined);
      if (why !== undefined) refused = { refused: document, why };
      return why === undefined;
    },
    onEvent: (event) => {
      if (event.type === "step-progress") {
        if (event.elapsed - (said.get(event.key) ?? -progressEvery) < progressEvery) return;
        said.set(event.key, event.elapsed);
      }
      say({ event });
    },
  });
  if (refused !== undefined) return refused;
  if (outcome === undefined) return { exitCode: 0, reasons: [] };
  const failed = outcome.steps.filter(({ result }) => result !== "done");
  const reasons = [
    ...failed
      .slice(0, 50)
      .map(({ address, result, message }) => [address, result, message].filter(Boolean).join(": ")),
    ...outcome.certificate.slice(0, 50).map(({ address, reason }) => `${address}: ${reason}`),
  ];
  return { exitCode: outcome.exitCode, reasons };
}

type Handles = Pick<Parameters<typeof apply>[0], "manifest" | "service" | "state" | "boundElsewhere">;

async function withHandles<T>(
  { files, env, limits, isStored, service: at, state: path, bound, approved }: Order,
  work: (handles: Handles) => Promise<T>,
): Promise<T> {
  const { profile, ...place } = at;
  const request = { files, env, limits, ...(profile === undefined ? {} : { profile }) };
  const manifest = await loadManifest(request);
  if (isStored && approved === undefined) {
    const inClear = (await validate(request)).filter(({ code }) => code === "secret-literal");
    if (inClear.length > 0) throw new ManifestError(inClear);
  }
  const state = openState(manifest, { path });
  const service = await openService(manifest, { ...place, env });
  try {
    return await work({ manifest, service, state, boundElsewhere: boundElsewhere(bound) });
  } finally {
    await service.close();
  }
}

/** The ids that others bind, and this state does not. */
function boundElsewhere(bound: Order["bound"]): ReadonlySet<string> {
  const others: readonly StateFacts[] = JSON.parse(bound?.others ?? "[]");
  const own: StateFacts = JSON.parse(bound?.own ?? "{}");
  const ids = new Set(others.flatMap(({ ids: of = [] }) => of));
  for (const id of own.ids ?? []) ids.delete(id);
  return ids;
}

/** The plan's document, with the names of its files without the folder of the checkout, which is gone when people read them. */
async function documentOf(made: Plan, { limits }: Order): Promise<PlanDocument> {
  const document: PlanDocument = JSON.parse(
    (await formatPlan(made, "json")).replaceAll(`${limits.folder}/`, ""),
  );
  return { ...document, secrets: sentSecrets(made) };
}

/** The fingerprints of the secrets that the steps of a plan send. */
function sentSecrets({ steps }: Plan): readonly string[] {
  const found = new Set<string>();
  JSON.stringify(steps, (key, value: unknown) => {
    if (key === "$secret") found.add(String(value));
    return value;
  });
  return [...found];
}

function say(message: FromThread<Applied | PlanDocument>): void {
  parentPort?.postMessage(message);
}
