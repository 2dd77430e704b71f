import { createHash } from "node:crypto";
import { expect } from "vitest";
import { kinds } from "../../src/kinds/index.ts";
import { systemClock } from "../../src/model/clock.ts";
import type { Desired } from "../../src/model/desired.ts";
import type { JsonObject } from "../../src/model/json.ts";
import { type Kind, kindRegistry } from "../../src/model/kind.ts";
import { referenceFields } from "../../src/model/templates.ts";
import { type ApplyDependencies, applyPlan } from "../../src/reconcile/apply-plan.ts";
import { planFor } from "../../src/reconcile/plan-for.ts";
import { emptyState } from "../../src/state/document.ts";
import { openJournal } from "../../src/state/journal.ts";
import { createVault } from "../../src/state/vault.ts";
import { createMemoryStore } from "../support/memory-store.ts";
import { somewhere } from "../support/plan-input.ts";
import { always, type Bench } from "./benches.ts";
import type { Referents, Sample } from "./samples.ts";

/** Through the engine, as a manifest has it: names for references, sealed secrets, a state between the runs. */
export async function reconcileTwice({
  sample,
  bench,
  referents,
}: {
  readonly sample: Sample;
  readonly bench: Bench;
  readonly referents: Referents;
}): Promise<void> {
  const { kind } = sample;
  const world = worldOf(bench.service, kind);
  const spec = named(kind.name, first(sample.specs)(referents));
  const bound = bindReferents(spec, referents);
  const wanted = desiredOf(`${kind.name}.x`, kind.name, seal(spec, kind.name, world));
  const run = async (desired: readonly Desired[], destroying = false): Promise<readonly string[]> => {
    const planned = await planFor(goal([...bound, ...desired], destroying), world.journal.state, {
      ...world,
      signal: always,
    });
    const steps = await applyPlan(planned, world);
    expect(steps.filter(({ result }) => result === "failed" || result === "stale")).toEqual([]);
    const active = planned.plan.changes.filter(
      ({ action, address }) => action !== "keep" && address.endsWith(".x"),
    );
    return active.map(({ action }) => action);
  };
  expect(await run([wanted])).toEqual(["create"]);
  expect(await run([wanted])).toEqual([]);
  const [change] = sample.changes.filter(({ path }) => path !== "password");
  if (change !== undefined) {
    const changed = { ...wanted.spec, [change.path]: change.value };
    expect(await run([{ ...wanted, spec: changed }])).toEqual(["update"]);
    expect(await run([{ ...wanted, spec: changed }])).toEqual([]);
  }
  const isAlone = bound.length === 0;
  const isThere = (): boolean => world.journal.state.resources[`${kind.name}.x`] !== undefined;
  expect(await run([], isAlone)).toEqual(["delete"]);
  // An account is given back in two phases, with a person in between: it may take a second run.
  if (isThere()) expect(await run([], isAlone)).toEqual(["delete"]);
  expect(isThere()).toBe(false);
}

type World = ApplyDependencies & { readonly seal: (text: string) => JsonObject };

function worldOf(service: ApplyDependencies["service"], kind: Kind): World {
  const state = emptyState("conformance");
  const vault = createVault(state.key);
  // A service that needs no time to settle: what it shows is what is so.
  const { timing } = service.profile;
  const quick = {
    ...service.profile,
    timing: { ...timing, settle: 20, listLag: 0, endpoint: 0, poll: { first: 2, longest: 5 } },
  };
  return {
    kinds: kindRegistry([...kinds.all.filter(({ name }) => name !== kind.name), kind]),
    service: { ...service, profile: quick },
    clock: systemClock,
    digest: (text) => createHash("sha256").update(text).digest("hex"),
    journal: openJournal(createMemoryStore(), state, systemClock),
    open: vault.open,
    seal: (text) => vault.seal(text, "secret.sample"),
    emit: () => undefined,
    stopping: always,
    aborting: always,
  };
}

function goal(desired: readonly Desired[], destroying: boolean): Parameters<typeof planFor>[0] {
  const manifest = {
    name: "conformance",
    state: {},
    desired,
    outputs: {},
    imports: [],
    moved: [],
    removed: [],
    guards: {},
    warnings: [],
  };
  const options = { targets: [], exclude: [], replace: [], allowDestroy: [] };
  return { manifest, options, timestamp: "2026-01-01T00:00:00.000Z", destroying };
}

function desiredOf(address: string, kind: string, spec: JsonObject, importId?: string): Desired {
  const schema = kinds.find(kind)?.schema;
  const refs = (schema === undefined ? [] : referenceFields(schema)).flatMap(({ path, section }) => {
    const name = spec[path];
    return typeof name === "string" ? [`${section}.${name}`] : [];
  });
  const lifecycle = {
    protect: false,
    onReplace: "recreate",
    onDelete: "delete",
    ignoreChanges: [],
    dependsOn: [],
  } as const;
  const entry: Desired = { address, kind, spec, refs, where: () => somewhere, lifecycle, timeouts: {} };
  return importId === undefined ? entry : { ...entry, importId };
}

/** References by the name that everything here has: `other`. */
function named(section: string, spec: JsonObject): JsonObject {
  const schema = kinds.find(section)?.schema;
  const fields = schema === undefined ? [] : referenceFields(schema);
  const names = fields.flatMap(({ path }): [string, string][] =>
    spec[path] === undefined ? [] : [[path, "other"]],
  );
  return { ...spec, ...Object.fromEntries(names) };
}

/** What is referred to is in the manifest too: adopted by its id. */
function bindReferents(spec: JsonObject, referents: Referents): readonly Desired[] {
  const base = { cloudProvider: "aws", region: "us-east-1" };
  const network = desiredOf(
    "networks.other",
    "networks",
    { id: referents.network, ...base },
    referents.network,
  );
  const place = { tier: "free", component: "free" };
  const instance = desiredOf("instances.other", "instances", { ...place, ...base }, referents.instance);
  return [
    ...(spec["network"] === undefined ? [] : [network]),
    ...(spec["instance"] === undefined ? [] : [instance]),
  ];
}

/** Secrets stand sealed in a desired spec. */
function seal(spec: JsonObject, section: string, world: World): JsonObject {
  const schema = kinds.find(section)?.schema;
  const isSecret = (path: string): boolean => {
    const [top = "", inner] = path.split(".");
    const row = schema?.properties[top];
    return (inner === undefined ? row : row?.properties?.[inner])?.["x-secret"] === true;
  };
  const sealed = Object.entries(spec).map(([path, value]): [string, typeof value] => [
    path,
    isSecret(path) ? world.seal(String(value)) : value,
  ]);
  return Object.fromEntries(sealed);
}

function first<T>(list: readonly T[]): T {
  const [found] = list;
  if (found === undefined) throw new Error("there is no sample");
  return found;
}
