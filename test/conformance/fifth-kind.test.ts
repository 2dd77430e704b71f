import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { loadProfile } from "../../src/hosting/profile/load-profile.ts";
import { defineKind } from "../../src/kinds/define-kind.ts";
import {
  fromWire,
  type ParamsAt,
  phaseOf,
  resourceReader,
  resourceWriter,
  timesOf,
} from "../../src/kinds/resource.ts";
import { ServiceError } from "../../src/model/errors.ts";
import type { KindSchema } from "../../src/model/field-schema.ts";
import { isObject, type JsonObject } from "../../src/model/json.ts";
import type { Kind } from "../../src/model/kind.ts";
import type { Call, Endpoint, Profile } from "../../src/model/service.ts";
import type { Bench } from "./benches.ts";
import { fakeService } from "./fake-service.ts";
import { reconcileTwice } from "./reconciled.ts";

const root = join(import.meta.dirname, "../..");

/** 1. The field table. */
const schema: KindSchema = {
  type: "object",
  additionalProperties: false,
  required: ["region", "title"],
  properties: {
    region: { type: "string", "x-create-only": true, "x-wire": "zone" },
    title: { type: "string", "x-identity": true },
    config: {
      type: "object",
      properties: { hours: { type: "integer", default: 24, "x-wire": "everyHours" } },
    },
  },
};

/** 2. The kind. */
const schedule: Kind = defineKind({
  name: "schedules",
  noun: "schedule",
  schema,
  outputs: ["id"],
  operations: { list: "schedule.search" },
  classFields: ["region"],
  reader: (service) =>
    resourceReader(schedule, service, nowhere, ({ id }, values) => ({
      id,
      phase: phaseOf(values, service),
      spec: fromWire(schema, values, service),
      outputs: { id },
      ...timesOf(values),
    })),
  writer: (service) => resourceWriter(schedule, service, nowhere),
});

const nowhere: ParamsAt = () => ({});

/** 4 and 5. Its operations, as a profile has them. */
function withSchedules(profile: Profile): Profile {
  const endpoint = (method: Endpoint["method"], path: string): Endpoint => ({
    ...{ method, path, host: "platform", query: {}, body: {}, answer: {} },
  });
  return {
    ...profile,
    operations: {
      ...profile.operations,
      "schedule.create": endpoint("POST", "/schedules"),
      "schedule.search": endpoint("GET", "/schedules"),
      "schedule.describe": endpoint("GET", "/schedules/{id}"),
      "schedule.update": endpoint("PATCH", "/schedules/{id}"),
      "schedule.delete": endpoint("DELETE", "/schedules/{id}"),
    },
  };
}

/** The fake with a shelf of schedules, and every call that it got. */
async function bench(): Promise<Bench & { readonly bodies: () => readonly unknown[] }> {
  const profile = withSchedules(await loadProfile("default"));
  const calls: Call[] = [];
  const kept = new Map<string, { zone: string; title: string; requestParams: JsonObject }>();
  const plain = fakeService(profile, () => undefined);
  const ask = async (call: Call): ReturnType<typeof plain.read> => {
    const { operation, params, body = {} } = call;
    if (!operation.startsWith("schedule.")) return plain.read(call, new AbortController().signal);
    calls.push(call);
    const { id = `schedule-${kept.size + 1}` } = params;
    const found = kept.get(id);
    if (operation === "schedule.search") return { body: null, values: { ids: [...kept.keys()] } };
    if (operation === "schedule.create" || operation === "schedule.update")
      kept.set(id, {
        zone: "",
        title: "",
        ...found,
        ...body,
        requestParams: {
          ...found?.requestParams,
          ...(isObject(body["requestParams"]) ? body["requestParams"] : {}),
        },
      });
    if (operation === "schedule.delete") kept.delete(id);
    if (operation !== "schedule.describe") return { body: null, values: { id } };
    if (found === undefined)
      throw new ServiceError("not-found", operation, `${id} not found`, { status: 404 });
    const { zone, title, requestParams } = found;
    return {
      body: null,
      values: { id, status: "RUNNING", region: zone, title, resultParams: requestParams },
    };
  };
  const service = { ...plain, read: ask, write: ask };
  return {
    ...{ service, calls, paths: [], alter: (_call, answer) => answer, close: async () => undefined },
    bodies: () => calls.flatMap(({ operation, body }) => (body === undefined ? [] : [[operation, body]])),
  };
}

describe("a fifth kind", () => {
  it("is created, planned empty, updated and deleted from its table, its declaration and its operations", async () => {
    const running = await bench();
    const sample = {
      kind: schedule,
      specs: [() => ({ region: "us-east-1", title: "nightly", "config.hours": 12 })],
      changes: [{ path: "title", value: "weekly", sends: { title: "weekly" } }],
      ...{ hidden: {}, shownBy: "schedule.describe", before: () => [], hasStatus: true },
    };
    await reconcileTwice({ sample, bench: running, referents: { network: "", configId: "", instance: "" } });
    expect(running.calls.some(({ operation }) => operation === "schedule.search")).toBe(true);
    expect(running.bodies()).toEqual([
      ["schedule.create", { zone: "us-east-1", title: "nightly", requestParams: { everyHours: 12 } }],
      ["schedule.update", { title: "weekly" }],
    ]);
  });

  it("takes the places that docs/adding-a-kind.md lists, six at most, which are those of an existing kind", () => {
    const page = readFileSync(join(root, "docs/adding-a-kind.md"), "utf8");
    const places = [...page.matchAll(/^\| `([^`]*\/[^`]*)` \|/gm)].map(([, place = ""]) =>
      place.replace("KIND", "network"),
    );
    expect(places.length).toBeLessThanOrEqual(6);
    const listed = places.flatMap((place) => globSync(place, { cwd: root }));
    const isNamedIn = (path: string, word: RegExp): boolean =>
      word.test(readFileSync(join(root, path), "utf8"));
    // Commands list operations that a service lacks.
    const others = /^src\/(?:commands|platform)\/|\.generated\./;
    const word = /\bnetwork\.(?:list|create|describe)\b|\bnetworkSchema\b|from "[^"]*\/network\.ts"/;
    const named = globSync(["src/**/*.ts", "profiles/*.yaml"], { cwd: root }).filter(
      (path) => !others.test(path) && isNamedIn(path, word),
    );
    expect(named.sort()).toEqual(listed.filter((path) => !others.test(path)).sort());
    const ofPlatform = globSync("src/platform/**/*.ts", { cwd: root }).filter((path) =>
      isNamedIn(path, /\bNetworkRecord\b|\bnetworkRows\b|\bnetworkSchema\b/),
    );
    const [routes] = listed.filter((path) => path.startsWith("src/platform/"));
    const kept = [...page.matchAll(/`(src\/platform\/(?:model|http)\/\w+\.ts)`/g)].map(([, path]) => path);
    expect(ofPlatform.sort()).toEqual([routes, ...kept].sort());
  });
});
