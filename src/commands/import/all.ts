/** @module Writes a manifest of everything that exists, and binds it. */
import { rm } from "node:fs/promises";
import { kinds } from "../../kinds/index.ts";
import { noSecrets } from "../../manifest/read-secret.ts";
import { exitCodes, GraphformError } from "../../model/errors.ts";
import type { Journal } from "../../model/journal.ts";
import type { Manifest, ServiceSection } from "../../model/manifest.ts";
import type { Plan, Step } from "../../model/plan.ts";
import type { StateDocument } from "../../model/state.ts";
import { referenceFields } from "../../model/templates.ts";
import { hasChanges } from "../../plan/plan.ts";
import type { Connection } from "../../project/connect.ts";
import type { ServiceTarget } from "../../project/locate-service.ts";
import { projectOf, resolveProject } from "../../project/project.ts";
import type { Settings } from "../../project/settings.ts";
import { planningWorld } from "../../project/worlds.ts";
import { carryOut } from "../../reconcile/apply-plan.ts";
import { planFor } from "../../reconcile/plan-for.ts";
import { amount } from "../../report/words.ts";
import { emptyState } from "../../state/document.ts";
import type { ManifestOptions } from "../options.ts";
import { writeNew } from "../reports/write-new.ts";
import { serviceTarget } from "../service-target.ts";
import { type ServiceWork, withServiceOf } from "../service-work.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { type Locked, underLockOf } from "../under-lock.ts";
import { declareObjects } from "./declare-objects.ts";
import { findEverything } from "./find-everything.ts";
import { leftOutLines, unreadLines, writtenText } from "./lines.ts";
import { serviceSection, subscriptionsUsed, tierSubscriptions } from "./manifest-text.ts";
import { usageError } from "./read-places.ts";
import { type Written, writtenManifest } from "./written-manifest.ts";

/** Options of `import --all`. */
export interface ImportAllOptions extends ManifestOptions {
  /** File for the manifest. With it, everything is also bound in the state. */
  readonly out?: string;
  /** Name of the manifest. */
  readonly name?: string;
  /** Includes users, as comments: no service shows a password. */
  readonly users?: boolean;
}

/**
 * `import --all`: writes a manifest of every live object and plans it, to prove that applying it would change nothing. With
 * `--out` everything is also bound in the state, so the next plan is empty. On standard output the manifest has `imports`,
 * and the first apply binds them. Throws `import-not-empty` if the proof fails; then nothing is bound.
 */
export async function importAll(
  address: string | undefined,
  options: ImportAllOptions,
  settings: Settings,
  terminal: Terminal,
): Promise<number> {
  if (address !== undefined) throw usageError("--all takes no address");
  const target = await serviceTarget(options, settings, "imported");
  const renamed = { ...target, header: { ...target.header, name: options.name ?? target.header.name } };
  if (options.out !== undefined) await assertNew(options.out);
  const work = async ({ service, identity, signal }: ServiceWork<ServiceTarget>): Promise<Written> => {
    const subscriptions = await tierSubscriptions(service, identity, signal);
    const { found: live, leftOut } = await findEverything(
      wantedKinds(options),
      service,
      signal,
      subscriptions,
    );
    for (const line of unreadLines(leftOut)) terminal.err(`${line}\n`);
    if (options.users !== true && live.some(({ kind }) => kind.name === "instances"))
      terminal.err("users of databases are left out; add --users to import them\n");
    const objects = declareObjects(live);
    const found = await writtenManifest(
      objects,
      { name: renamed.header.name, unread: leftOut, ...stateOf(target, options.name) },
      sectionOf(renamed, options, settings, subscriptionsUsed(live, subscriptions)),
      options,
      settings,
    );
    // With --out the proof is made under the lock, in `bindAll`.
    if (options.out === undefined)
      assertNoChange(await planOf(found.manifest, emptyState(renamed.header.name), service, signal), found);
    return found;
  };
  const written = await withServiceOf(renamed, options, settings, terminal, work);
  for (const line of leftOutLines(written)) terminal.err(`${line}\n`);
  if (options.out === undefined) {
    terminal.out(written.text);
    terminal.err(
      `${writtenText(written)}; its plan changes no field. Save it as graphform.yaml; the first apply binds everything.\n`,
    );
    return exitCodes.done;
  }
  await bindAll(options.out, written, options, settings, terminal);
  terminal.err(`${writtenText(written)} in ${options.out}, bound in the state; a plan of it is empty.\n`);
  return exitCodes.done;
}

/** The state's section of the manifest that is there already: what is bound belongs where that is kept. Another name has another state. */
function stateOf(
  { header }: ServiceTarget,
  name: string | undefined,
): { readonly state?: ServiceTarget["header"]["state"] } {
  const isKept = Object.keys(header.state).length > 0 && (name === undefined || name === header.name);
  return isKept ? { state: header.state } : {};
}

function sectionOf(
  { header, profile }: ServiceTarget,
  options: ManifestOptions,
  settings: Settings,
  used: ServiceSection["subscriptions"],
): ReturnType<typeof serviceSection> {
  const { service } = header;
  const forAll = options.subscription ?? settings.get("subscriptionId");
  const byTier = profile.subscriptions === "per-tier" && service?.subscriptionId === undefined ? used : {};
  const subscriptions = { ...byTier, ...service?.subscriptions };
  return serviceSection({
    subscriptions: forAll === undefined && Object.keys(subscriptions).length > 0 ? subscriptions : undefined,
    profile: options.profile ?? service?.profile ?? (profile.name === "default" ? undefined : profile.name),
    platformUrl: options.platformUrl ?? settings.get("platformUrl") ?? service?.platformUrl,
    usersUrl: options.usersUrl ?? settings.get("usersUrl") ?? service?.usersUrl,
    subscriptionId: forAll ?? service?.subscriptionId,
  });
}

/**
 * Writes the manifest, binds its objects in one step, and plans again: that plan must be empty. If anything fails, the
 * bindings and the file are removed.
 */
async function bindAll(
  file: string,
  written: Written,
  options: ImportAllOptions,
  settings: Settings,
  terminal: Terminal,
): Promise<void> {
  const { text } = written;
  const project = await projectOf([{ path: file, text }], options, new Date(0).toISOString(), settings);
  const work = async ({ project: locked, state, service, world }: Locked): Promise<void> => {
    if (Object.keys(state.resources).length > 0) {
      throw new GraphformError("state-in-use", `the state ${locked.store.where} binds resources already`, {
        hint: "give the written manifest another name with --name, or another location with --state",
      });
    }
    const { manifest } = await resolveProject(locked, state, noSecrets);
    const plan = await planOf(manifest, state, service, world.stopping);
    assertNoChange(plan, written);
    const binds = plan.steps.filter((step) => step.operation === "bind");
    await writeNew(file, text);
    try {
      const steps = binds.map((step) => ({ ...step, after: [], blocked: [] }));
      const failed = (await carryOut(steps, world)).find((outcome) => outcome.result !== "done");
      if (failed !== undefined)
        throw new GraphformError("import-failed", failed.message ?? `${failed.address} was not bound`);
      const second = await planOf(manifest, world.journal.state, service, world.stopping);
      if (hasChanges(second)) throw notEmpty(second);
    } catch (error) {
      await undo(file, binds, world.journal).catch(() => undefined);
      throw error;
    }
  };
  await underLockOf(project, options, settings, terminal, { operation: "import", work });
}

/** Removes the file last: if the state cannot be restored, the file still lists the bound objects. */
async function undo(file: string, binds: readonly Step[], journal: Journal): Promise<void> {
  const addresses = binds.map(({ address }) => address);
  await journal.record({ type: "released-together", addresses });
  await rm(file, { force: true });
}

async function planOf(
  manifest: Manifest,
  state: StateDocument,
  service: Connection,
  signal: AbortSignal,
): Promise<Plan> {
  const options = { targets: [], exclude: [], replace: [], allowDestroy: [] };
  const goal = { manifest, options, timestamp: state.savedAt, destroying: false };
  const { plan } = await planFor(goal, state, planningWorld(service, signal));
  return plan;
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
    {
      hint: "something changed meanwhile; graphform plan shows it",
    },
  );
}

async function assertNew(file: string): Promise<void> {
  const { existsSync } = await import("node:fs");
  if (!existsSync(file)) return;
  throw new GraphformError("file-exists", `${file} exists already and is not overwritten`, {
    hint: "name another file with --out",
  });
}

/** Leaves out users unless `--users` is set: each instance takes one request to a host that allows few per minute. */
function wantedKinds({ users }: ImportAllOptions): typeof kinds.all {
  return users === true
    ? kinds.all
    : kinds.all.filter((kind) => referenceFields(kind.schema).every((field) => !field.place));
}
