/** @module Writes a manifest of everything that exists, and binds it. */
import { existsSync } from "node:fs";
import { rm } from "node:fs/promises";
import type { Client } from "../../hosting/service-options.ts";
import { kinds } from "../../kinds/index.ts";
import { exitCodes, GraphformError } from "../../model/errors.ts";
import { defined, type JsonObject } from "../../model/json.ts";
import type { KindRegistry, LeftOut } from "../../model/kind.ts";
import type { Manifest } from "../../model/manifest.ts";
import { objectKey } from "../../model/observed.ts";
import { hasChanges, type Plan } from "../../model/plan.ts";
import type { StateDocument } from "../../model/state.ts";
import { referenceFields } from "../../model/templates.ts";
import { type TierSubscriptions, tierSubscriptions } from "../../project/add-subscriptions.ts";
import { kindsWith, planningDependencies } from "../../project/dependencies.ts";
import type { ServiceTarget } from "../../project/locate-service.ts";
import { resolving } from "../../project/open-run.ts";
import { projectOf } from "../../project/project.ts";
import { runSteps } from "../../reconcile/apply-plan.ts";
import { planFor } from "../../reconcile/plan-for.ts";
import { escapeText } from "../../report/typeset.ts";
import { amount } from "../../report/words.ts";
import { emptyState } from "../../state/document.ts";
import { writeAllNew } from "../reports/write-new.ts";
import { type Invocation, type OpenService, serviceTarget, withRun, withService } from "../with-run.ts";
import { declareObjects } from "./declare-objects.ts";
import { type Found, findEverything } from "./find-everything.ts";
import { type ImportOptions, usageError } from "./import-one.ts";
import { type Written, writtenManifest } from "./manifest-text.ts";

/**
 * `import --all`: writes a manifest of every live object and plans it, to prove that applying it would change nothing. With `--out`
 * everything is also bound in the state; on standard output the manifest has `imports`, which the first apply binds. Throws
 * `import-not-empty` if the proof fails; then nothing is bound.
 */
export async function importAll(invocation: Invocation<ImportOptions>, address?: string): Promise<number> {
  const { options, settings, terminal } = invocation;
  const { out } = options;
  if (address !== undefined) throw usageError("--all takes no address");
  const target = await serviceTarget(invocation, "imported");
  const renamed = { ...target, header: { ...target.header, name: options.name ?? target.header.name } };
  const { name } = renamed.header;
  if (out !== undefined && existsSync(out))
    throw new GraphformError("file-exists", `${out} exists already and is not overwritten`, {
      hint: "name another file with --out",
    });
  const work = async ({ service, identity, signal }: OpenService): Promise<Written> => {
    const subscriptions = await tierSubscriptions(service, identity, signal);
    // Without --users they are left out: each instance takes one request to a host that allows few per minute.
    const wanted = kinds.all.filter(
      ({ schema }) => options.users === true || referenceFields(schema).every((field) => !field.place),
    );
    const { found, leftOut } = await findEverything(wanted, service, signal, subscriptions);
    for (const line of leftOutLines(leftOut, 10, "which the manifest names")) terminal.err(`${line}\n`);
    if (options.users !== true && found.some(({ kind }) => kind.name === "instances"))
      terminal.err("users of databases are left out; add --users to import them\n");
    const written = await writtenManifest(
      declareObjects(found),
      { name, unread: leftOut, ...sectionsOf(target, invocation, found, subscriptions) },
      options,
      settings,
    );
    // With --out the proof is made under the lock, in `bindAll`.
    if (out === undefined)
      assertNoChange(
        await planOf(written.manifest, emptyState(name), service, signal, asRead(found)),
        written,
      );
    return written;
  };
  const written = await withService(invocation, work, renamed);
  const { declared, leftOut } = written;
  const invalid = [...leftOut].map(([what, reason]) => ({ what, reason }));
  for (const line of leftOutLines(invalid, 5, "which are comments in the manifest"))
    terminal.err(`${line}\n`);
  const rest = leftOut.size === 0 ? "" : `, ${leftOut.size} left out as comments`;
  const what = `${amount(declared, "resource")} written${rest}`;
  if (out === undefined) {
    terminal.out(written.text);
    const next = "Save it as graphform.yaml; the first apply binds everything.";
    terminal.err(`${what}; its plan changes no field. ${next}\n`);
  } else {
    await bindAll(out, written, invocation);
    terminal.err(`${what} in ${out}, bound in the state; a plan of it is empty.\n`);
  }
  return exitCodes.done;
}

/** Lines about objects that are left out, at most `max`: a service may have hundreds. `others` names the place of the rest. */
function leftOutLines(leftOut: readonly LeftOut[], max: number, others: string): readonly string[] {
  const lines = leftOut.map(
    ({ what, reason }) => `left out ${escapeText(what, 300)}: ${escapeText(reason, 400)}`,
  );
  const rest = lines.length - max;
  return rest <= 0 ? lines : [...lines.slice(0, max), `and ${rest} more, ${others}`];
}

/**
 * The sections of a manifest about its service and its state. The state of the existing manifest gets the bindings, unless the new one has
 * another name. With the subscriptions of what was found a plan needs no lookup.
 */
function sectionsOf(
  { header, profile }: ServiceTarget,
  { options, settings }: Invocation<ImportOptions>,
  found: readonly Found[],
  subscriptions: TierSubscriptions | undefined,
): { readonly service: JsonObject; readonly state: JsonObject } {
  const { service, name, state } = header;
  const forAll = options.subscription ?? settings.get("GRAPHFORM_SUBSCRIPTION_ID");
  const tiers = new Set(found.map(({ place }) => String(place["tier"] ?? "")));
  const isLookedUp = profile.subscriptions === "per-tier" && service?.subscriptionId === undefined;
  const used = Object.entries(isLookedUp ? (subscriptions?.byTier ?? {}) : {}).filter(([tier]) =>
    tiers.has(tier),
  );
  const byTier = { ...Object.fromEntries(used), ...service?.subscriptions };
  return {
    service: defined({
      subscriptions: forAll === undefined && Object.keys(byTier).length > 0 ? byTier : undefined,
      profile: options.profile ?? service?.profile ?? (profile.name === "default" ? undefined : profile.name),
      platformUrl: options.platformUrl ?? settings.get("GRAPHFORM_PLATFORM_URL") ?? service?.platformUrl,
      usersUrl: options.usersUrl ?? settings.get("GRAPHFORM_USERS_URL") ?? service?.usersUrl,
      subscriptionId: forAll ?? service?.subscriptionId,
    }),
    state: options.name === undefined || options.name === name ? state : {},
  };
}

/** Writes the manifest, binds its objects at once, and plans again. Unless that plan is empty, bindings and file are removed. */
async function bindAll(file: string, written: Written, invocation: Invocation<ImportOptions>): Promise<void> {
  const { text } = written;
  const { options, settings } = invocation;
  const project = await projectOf([{ path: file, text }], options, new Date(0).toISOString(), settings);
  const wanted = { project, reading: resolving("none"), lock: "import" };
  await withRun(invocation, wanted, async ({ manifest, state, service, signal, applying }, { aborting }) => {
    if (Object.keys(state.resources).length > 0)
      throw new GraphformError("state-in-use", `the state ${project.store.where} binds resources already`, {
        hint: "give the written manifest another name with --name, or another location with --state",
      });
    const plan = await planOf(manifest, state, service, signal);
    assertNoChange(plan, written);
    const deps = applying({ aborting });
    const binds = plan.steps.filter((step) => step.operation === "bind");
    await writeAllNew([{ path: file, text }]);
    try {
      const steps = binds.map((step) => ({ ...step, after: [], blocked: [] }));
      const failed = (await runSteps(steps, deps)).find((outcome) => outcome.result !== "done");
      if (failed !== undefined)
        throw new GraphformError("import-failed", failed.message ?? `${failed.address} was not bound`);
      const second = await planOf(manifest, deps.journal.state, service, signal);
      if (hasChanges(second)) throw notEmpty(second);
    } catch (error) {
      // The file goes last: if the state cannot be restored, it still lists the bound objects.
      const addresses = binds.map(({ address }) => address);
      const restored = deps.journal.record({ type: "released-together", addresses });
      await restored.then(() => rm(file, { force: true })).catch(() => undefined);
      throw error;
    }
  });
}

async function planOf(
  manifest: Manifest,
  state: StateDocument,
  service: Client,
  signal: AbortSignal,
  from: KindRegistry = kinds,
): Promise<Plan> {
  const options = { targets: [], exclude: [], replace: [], allowDestroy: [] };
  const goal = { manifest, options, timestamp: state.savedAt, destroying: false };
  const { plan } = await planFor(goal, state, { ...planningDependencies(service, signal), kinds: from });
  return plan;
}

/** The kinds with readers that return these objects as they were read: the manifest is checked against the objects that it was written from. */
function asRead(found: readonly Found[]): KindRegistry {
  const lives = new Map(
    found.map(({ kind, place, live }) => [objectKey(kind.name, { id: live.id, place }), live]),
  );
  return kindsWith((reader, kind) => ({
    get: async (ref, signal) => lives.get(objectKey(kind, ref)) ?? reader.get(ref, signal),
  }));
}

/** Throws `import-not-empty` if the plan has any change except bindings. */
function assertNoChange(plan: Plan, written: Written): void {
  const changes = plan.changes.filter(
    (change) => change.fields.length > 0 || !["adopt", "keep"].includes(change.action),
  );
  if (changes.length === 0) return;
  const lines = changes
    .slice(0, 10)
    .map(
      (change) =>
        `${change.address}: ${change.fields.map((field) => field.path).join(", ") || change.action}`,
    );
  throw new GraphformError(
    "import-not-empty",
    `the written manifest would change ${amount(changes.length, "resource")}: ${lines.join("; ")}`,
    {
      hint: `the service changed meanwhile, or this is a bug in graphform; ${written.declared} resources were read and nothing was written`,
    },
  );
}

function notEmpty(plan: Plan): GraphformError {
  const changed = plan.changes
    .filter((change) => change.action !== "keep")
    .map((change) => `${change.address} (${change.action})`);
  return new GraphformError(
    "import-not-empty",
    `nothing was bound: the plan of the written manifest would not be empty: ${changed.slice(0, 10).join(", ")}`,
    { hint: "something changed meanwhile; graphform plan shows it" },
  );
}
