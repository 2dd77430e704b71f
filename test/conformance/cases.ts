import { expect } from "vitest";
import { isServiceError } from "../../src/model/errors.ts";
import { type FieldSchema, fieldRows, rowAt } from "../../src/model/field-schema.ts";
import { isObject, type Json, type JsonObject } from "../../src/model/json.ts";
import { type Driver, kindRegistry } from "../../src/model/kind.ts";
import { naming } from "../../src/model/manifest.ts";
import type { Live, PhaseName, Ref } from "../../src/model/observed.ts";
import type { Answer } from "../../src/model/service.ts";
import { flatten, type Spec } from "../../src/model/spec.ts";
import { referenceFields } from "../../src/model/templates.ts";
import { sameValue } from "../../src/model/values.ts";
import { planOf } from "../support/plan-input.ts";
import { always, type Bench, until, untilReady } from "./benches.ts";
import { reconcileTwice } from "./reconciled.ts";
import { type Referents, type Sample, secrets } from "./samples.ts";

/** Fields that the default profile has not: tested under one that has them, in kinds/instance-marks. */
export const notInDefault: readonly string[] = ["deletionProtection", "customTags"];

/** What one case works with. */
export interface Trial {
  readonly bench: Bench;
  readonly sample: Sample;
  readonly referents: Referents;
  readonly driver: Driver;
}

/** What every kind must do, whoever the service is. Each case makes what it needs and removes it. */
export const cases: { readonly [name: string]: (trial: Trial) => Promise<void> } = {
  "lists nothing before anything is created": async (trial) => {
    const { driver, sample, referents } = trial;
    expect(await driver.list(placeOf(trial, specOf(trial)), always)).toEqual(sample.before(referents));
  },

  "create returns an id that list and get then know": async (trial) => {
    const { driver, sample, referents } = trial;
    const ref = await create(trial);
    expect(ref.id).toMatch(/\S/);
    expect(await driver.list(ref.place, always)).toEqual([...sample.before(referents), ref.id]);
    const live = await untilReady(driver, ref);
    expect(live).toMatchObject({ id: ref.id, outputs: { id: ref.id } });
    const given = Object.keys(live.outputs).filter((name) => !sample.kind.outputs.includes(name));
    expect(given).toEqual([]);
    await remove(trial, ref);
  },

  "get of an unknown id is undefined": async (trial) => {
    expect(await trial.driver.get(strange(trial, "unknown-4711"), always)).toBeUndefined();
  },

  "every field comes back in the manifest's words": async (trial) => {
    const { driver, sample } = trial;
    const rows = fieldRows(sample.kind.schema);
    for (const spec of sample.specs.map((make) => make(trial.referents))) {
      const ref = await create(trial, spec);
      const live = await untilReady(driver, ref);
      const wrong = Object.entries(spec).filter(([path, value]) => {
        const seen = live.spec[path];
        if (Object.hasOwn(sample.hidden, path)) return seen !== undefined;
        return (
          seen === undefined || seen.source === "recorded" || !sameValue(value, seen.value, rowAt(rows, path))
        );
      });
      expect(wrong).toEqual([]);
      expect(Object.keys(live.spec).filter((path) => !rows.has(path))).toEqual([]);
      await remove(trial, ref);
    }
  },

  "an update of each in-place field sends that alone, and is seen afterwards": async (trial) => {
    const { bench, driver, sample } = trial;
    const inPlace = rowsOf(sample).filter(
      ([path, row]) =>
        row["x-create-only"] !== true && row["x-operations"] === undefined && !notInDefault.includes(path),
    );
    expect(sample.changes.map(({ path }) => path).sort()).toEqual(inPlace.map(([path]) => path).sort());
    const ref = await create(trial);
    await untilReady(driver, ref);
    for (const { path, value, sends: told } of sample.changes) {
      const sends = spelled(told, bench.service.profile.fields);
      bench.calls.length = 0;
      await driver.update(ref, patchOf(path, value), always);
      expect(bench.calls).toMatchObject([{ operation: sample.kind.operations.update, body: sends }]);
      expect(bench.calls[0]?.body).toEqual(sends);
      const live = await until(
        driver,
        ref,
        (seen) => seen?.phase.is === "ready" && isSeen(seen, path, value, sample),
      );
      // What nobody shows is recorded by the engine, and must not show here by accident.
      if (Object.hasOwn(sample.hidden, path)) expect(live?.spec[path]).toBeUndefined();
    }
    if (sample.changes.length === 0) {
      bench.calls.length = 0;
      await driver.update(ref, {}, always);
      expect(bench.calls).toEqual([]);
    }
    await remove(trial, ref);
  },

  "what is fixed at creation is replaced, and never gets into an update": async ({ sample, bench }) => {
    const { kind } = sample;
    const fixed = rowsOf(sample).filter(([, row]) => row["x-create-only"] === true);
    expect(fixed.length).toBeGreaterThan(0);
    for (const [path, row] of fixed) {
      const { by, reason } = row["x-carried"] ?? { by: [], reason: "" };
      expect([path, new Set(by).size, /^[a-z].* .*[^.]$/.test(reason)]).toEqual([
        path,
        by.length,
        kind.holdsData,
      ]);
    }
    const [change] = sample.changes;
    for (const [path] of fixed) {
      const both = change === undefined ? [] : [[change.path, change.value] as const];
      const wants = Object.fromEntries([[path, "another"], ...both]);
      const has = Object.fromEntries([[path, "one"], ...both.map(([each]) => [each, "before"] as const)]);
      const plan = planOf(
        { [`${kind.name}.x`]: { wants, has } },
        { kinds: kindRegistry([kind]), profile: bench.service.profile },
      );
      expect([path, plan.changes[0]?.action, plan.changes[0]?.forcedBy]).toEqual([path, "replace", path]);
      expect(plan.steps.filter(({ operation }) => operation === "update")).toEqual([]);
    }
    const names = new Set(fixed.map(([path, row]) => row["x-wire"] ?? path.split(".").at(-1)));
    const updates = bench.calls.filter(({ operation }) => operation === kind.operations.update);
    const sent = updates.flatMap(({ body = {} }) =>
      Object.keys(flatten(body)).map((path) => path.split(".").at(-1)),
    );
    expect(sent.filter((name) => names.has(name))).toEqual([]);
  },

  "delete until it is gone": async (trial) => {
    const ref = await create(trial);
    await untilReady(trial.driver, ref);
    await remove(trial, ref);
    expect(await trial.driver.get(ref, always)).toBeUndefined();
    expect(await trial.driver.list(ref.place, always)).toEqual(trial.sample.before(trial.referents));
  },

  "deleting what is gone says so": async (trial) => {
    const ref = await create(trial);
    await untilReady(trial.driver, ref);
    await remove(trial, ref);
    const error: unknown = await trial.driver.delete(ref, always).catch((thrown: unknown) => thrown);
    expect(isServiceError(error, "not-found")).toBe(true);
  },

  "no secret gets into what is seen, whatever the service says": async (trial) => {
    const { bench, driver, sample } = trial;
    const poison = { password: "poison-4711", graphdbPassword: "poison-4711", secretKey: "poison-4711" };
    const ref = await create(trial);
    bench.alter = (call, answer) => (call.operation === sample.shownBy ? poisoned(answer, poison) : answer);
    const live = await untilReady(driver, ref);
    bench.alter = (_call, answer) => answer;
    const text = JSON.stringify(live);
    expect(secrets.filter((secret) => text.includes(secret))).toEqual([]);
    const secret = rowsOf(sample).filter(([, row]) => row["x-secret"] === true);
    expect(secret.filter(([path]) => Object.hasOwn(live.spec, path))).toEqual([]);
    await remove(trial, ref);
  },

  "an id of odd characters is one encoded part of the path": async (trial) => {
    const { bench, driver } = trial;
    for (const odd of ["a/b?c#d%e ü", "../etc", "%2e%2e", "__proto__"]) {
      const ref = strange(trial, odd);
      expect(await driver.get(ref, always)).toBeUndefined();
      bench.paths.length = 0;
      const error: unknown = await driver.delete(ref, always).catch((thrown: unknown) => thrown);
      expect(isServiceError(error, "not-found")).toBe(true);
      const [path = ""] = bench.paths[0]?.split("?") ?? [];
      expect(path.split("/").at(-1)).toBe(encodeURIComponent(odd));
    }
  },

  "names become ids in what is sent, and ids become names in what is seen": async (trial) => {
    const { sample, driver, bench } = trial;
    const fields = referenceFields(sample.kind.schema);
    const used = new Set<string>();
    for (const spec of sample.specs.map((make) => make(trial.referents))) {
      bench.calls.length = 0;
      const ref = await create(trial, spec);
      const live = await untilReady(driver, ref);
      const pairs = fields.flatMap((field): readonly (readonly [string, Json, typeof field])[] => {
        const id = spec[field.path];
        return id === undefined ? [] : [[field.path, id, field]];
      });
      const table = new Map(
        pairs.map(([path, id, { section, output }]): [string, JsonObject] => [
          `${section}.my-${path}`,
          { [output]: id },
        ]),
      );
      const named = naming(table)(live, sample.kind.schema);
      const [sent] = bench.calls.filter(({ operation }) => operation === sample.kind.operations.create);
      for (const [path, id] of pairs) {
        used.add(path);
        expect(named.spec[path]?.value).toBe(`my-${path}`);
        expect(JSON.stringify([sent?.params, sent?.body])).toContain(JSON.stringify(id));
      }
      if (pairs.length === 0) expect(named).toEqual(live);
      await remove(trial, ref);
    }
    expect([...used].sort()).toEqual(fields.map(({ path }) => path).sort());
  },

  "a place survives being written down as JSON": async (trial) => {
    const ref = await create(trial);
    await untilReady(trial.driver, ref);
    const again: Ref = JSON.parse(JSON.stringify(ref));
    expect(again).toEqual(ref);
    expect((await trial.driver.get(again, always))?.id).toBe(ref.id);
    await remove(trial, ref);
  },

  "every status means what it means": async (trial) => {
    const ref = await create(trial);
    await untilReady(trial.driver, ref);
    const seen = await phases(trial, ref, Object.keys(statuses));
    const ready = Object.keys(statuses).map((status) => [status, "ready"]);
    // An account that is disconnected waits for its owner: no start brings it back.
    const own =
      trial.sample.kind.name === "cloudAccounts"
        ? { ...statuses, DISCONNECTED: "waiting-for-person" }
        : statuses;
    expect(seen).toEqual(trial.sample.hasStatus ? Object.entries(own) : ready);
    await remove(trial, ref);
  },

  "a status that nobody knows is on its way to something": async (trial) => {
    const ref = await create(trial);
    await untilReady(trial.driver, ref);
    const unknown = ["SHINING", "", "constructor", "__proto__"];
    const seen = await phases(trial, ref, unknown);
    expect(seen).toEqual(unknown.map((status) => [status, trial.sample.hasStatus ? "pending" : "ready"]));
    await remove(trial, ref);
  },

  "every verb of its table leads where the table says": async (trial) => {
    const { driver, sample } = trial;
    const rows = rowsOf(sample).flatMap(([path, row]) =>
      Object.entries(row["x-operations"] ?? {}).map(([way, verb]) => ({ path, way, verb })),
    );
    const ref = await create(trial);
    await untilReady(driver, ref);
    // What cannot fail on request cannot be brought back from it here: the restart is of what runs.
    for (const { path, verb, way } of rows.toSorted((a, b) => b.verb.localeCompare(a.verb))) {
      await driver.operate(ref, verb, always);
      const to = way.split(">")[1];
      const live = await until(driver, ref, (seen) => seen?.spec[path]?.value === to);
      expect(live?.spec[path]).toEqual({ value: to, source: "described" });
    }
    const verbs = trial.bench.calls.filter(({ operation }) =>
      rows.some(({ verb }) => operation.endsWith(`.${verb}`)),
    );
    expect(new Set(verbs.map(({ operation }) => operation)).size).toBe(rows.length);
    await remove(trial, ref);
  },

  "reconciled by names it is there once, needs nothing more, is changed, and is gone": reconcileTwice,
};

/** What each status of the service means (wire facts 2.1), written here by hand. */
const statuses: { readonly [status: string]: PhaseName } = {
  ...phasesOf("ready", "RUNNING READY COMPLETE SUCCESS running Ready"),
  ...phasesOf("stopped", "STOPPED DISCONNECTED DEACTIVATED"),
  ...phasesOf("failed", "FAILED CANCELLED"),
  ...phasesOf(
    "pending",
    "PENDING PENDING_DEPENDENCY DEPLOYING UPLOADING STARTING STOPPING RESTARTING SCALING_UP",
  ),
  ...phasesOf(
    "pending",
    "SCALING_DOWN BACKING_UP COPYING_SNAPSHOT ATTACHING CONNECTING DISCONNECTING DETACHING",
  ),
  ...phasesOf("pending", "PENDING_DETACHING DELETING UNKNOWN"),
  ...phasesOf("gone", "DELETED"),
};

function phasesOf(phase: PhaseName, words: string): { readonly [status: string]: PhaseName } {
  return Object.fromEntries(words.split(" ").map((status) => [status, phase]));
}

async function phases(
  { bench, sample, driver }: Trial,
  ref: Ref,
  words: readonly string[],
): Promise<readonly (readonly string[])[]> {
  const seen: (readonly string[])[] = [];
  for (const status of words) {
    bench.alter = (call, answer) =>
      call.operation === sample.shownBy ? { ...answer, values: { ...answer.values, status } } : answer;
    seen.push([status, (await driver.get(ref, always))?.phase.is ?? "absent"]);
  }
  bench.alter = (_call, answer) => answer;
  return seen;
}

/** Every row of a kind's table by its path. */
function rowsOf({ kind }: Sample): readonly (readonly [string, FieldSchema])[] {
  return Object.entries(kind.schema.properties).flatMap(
    ([name, row]): readonly (readonly [string, FieldSchema])[] => {
      if (row.properties === undefined) return [[name, row]];
      return Object.entries(row.properties).map(([inner, each]) => [`${name}.${inner}`, each]);
    },
  );
}

function specOf({ sample, referents }: Trial): Spec {
  const [first] = sample.specs;
  if (first === undefined) throw new Error(`${sample.kind.name} has no sample`);
  return first(referents);
}

function placeOf({ sample }: Trial, spec: Spec): JsonObject {
  return sample.kind.place(spec);
}

async function create(trial: Trial, spec: Spec = specOf(trial)): Promise<Ref> {
  return { id: await trial.driver.create(spec, always), place: placeOf(trial, spec) };
}

/** Something that is not there: for users the name is the last part of the path, for all others the id. */
function strange(trial: Trial, id: string): Ref {
  const place = placeOf(trial, specOf(trial));
  const isNamed = place["username"] !== undefined;
  return { id, place: isNamed ? { ...place, username: id } : place };
}

/** Deletes it, in as many phases as it takes, and waits until it is gone. */
async function remove({ driver }: Trial, ref: Ref): Promise<void> {
  for (let phase = 1; phase <= 2; phase += 1) {
    await driver.delete(ref, always);
    const live = await until(
      driver,
      ref,
      (seen) => seen === undefined || seen.phase.is === "waiting-for-person",
    );
    if (live === undefined) return;
  }
  throw new Error(`${ref.id} waits for a person even so`);
}

function patchOf(path: string, value: Json): Spec {
  return { [path]: value };
}

function isSeen(live: Live, path: string, value: Json, { kind, hidden }: Sample): boolean {
  const seen = live.spec[path];
  if (Object.hasOwn(hidden, path)) return true;
  return seen !== undefined && sameValue(value, seen.value, rowAt(fieldRows(kind.schema), path));
}

/** The same answer with words in it that must go no further: at the top, in the parameters, in each of the items. */
function poisoned(answer: Answer, poison: JsonObject): Answer {
  const { resultParams, items } = answer.values;
  return {
    body: answer.body,
    values: {
      ...answer.values,
      ...poison,
      "config.graphdbPassword": "poison-4711",
      resultParams: { ...(isObject(resultParams) ? resultParams : {}), ...poison },
      ...(Array.isArray(items)
        ? { items: items.map((item: Json) => (isObject(item) ? { ...item, ...poison } : item)) }
        : {}),
    },
  };
}

/** What is sent, in the service's own spelling of the settings. */
function spelled(body: JsonObject, fields: { readonly [name: string]: string }): JsonObject {
  const { requestParams } = body;
  if (!isObject(requestParams)) return body;
  const own = Object.entries(requestParams).map(([name, value]) => [fields[name] ?? name, value]);
  return { ...body, requestParams: Object.fromEntries(own) };
}
