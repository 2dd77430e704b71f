import { describe, expect, it } from "vitest";
import { defined, type Json } from "../../src/model/json.ts";
import { kindRegistry, type Reader } from "../../src/model/kind.ts";
import type { Live, PhaseName } from "../../src/model/observed.ts";
import type { ProbeAnswer, ProbeRequest } from "../../src/model/probe.ts";
import type { Open } from "../../src/model/sealed.ts";
import { type Observation, observe } from "../../src/observe/observe.ts";
import { type Case, planInput, type Rest, type Scene } from "../support/plan-input.ts";
import { askedSchema, toyKind, toyProfile } from "../support/toy-kind.ts";
import { jumpingClock } from "../support/virtual-clock.ts";

type Probe = NonNullable<Reader["probe"]>;

const open: Open = ({ $secret }) => `text of ${$secret}`;
const kinds = kindRegistry([toyKind(undefined, { schema: askedSchema })]);
const answer = async (): Promise<ProbeAnswer> => ({ is: "answered", values: { rows: 5 }, engine: "1.2.3" });

/** One observation of a scene in which every toy is shown in that phase. */
async function look(
  scene: Scene,
  probe: Probe,
  {
    phase = "ready",
    rest = {},
    endpoints = {},
    listed = [],
    shown = {},
    ...over
  }: {
    phase?: PhaseName;
    rest?: Rest;
    open?: Open | undefined;
    endpoint?: number;
    unasked?: string;
    /** Id -> the address of its database. */
    endpoints?: { readonly [id: string]: string };
    listed?: readonly string[];
    shown?: Live["spec"];
  } = {},
): Promise<Observation> {
  const { desired, state } = planInput(scene, rest);
  const live = (id: string): Live => ({
    id,
    phase: { is: phase, detail: phase },
    spec: shown,
    outputs: { id, port: 1, ...(endpoints[id] === undefined ? {} : { endpoint: endpoints[id] }) },
  });
  const endpoint = over.endpoint ?? toyProfile.timing.endpoint;
  return observe(desired, {
    kinds,
    readers: new Map([["toys", { list: async () => listed, get: async ({ id }) => live(id), probe }]]),
    state,
    clock: jumpingClock(0),
    profile: { ...toyProfile, timing: { ...toyProfile.timing, endpoint } },
    signal: new AbortController().signal,
    open: "open" in over ? over.open : open,
    unasked: over.unasked,
  });
}

const declared: Case = {
  wants: { rows: 10, colour: "red", token: { $secret: "t" } },
  recorded: { rows: 10 },
};

describe("running objects", () => {
  it("are asked with the declared values, secrets opened, and show declared fields alone", async () => {
    const asked: ProbeRequest[] = [];
    const seen = await look(
      { a: declared, b: { ...declared, wants: { colour: "red" } } },
      async (request) => {
        asked.push(request);
        return answer();
      },
    );
    expect(asked.map(({ live, spec }) => [live.id, spec])).toEqual([
      ["id-a", { rows: 10, colour: "red", token: "text of t" }],
      ["id-b", { colour: "red" }],
    ]);
    expect(seen.observed.get("toys.a")?.probed).toEqual({ values: { rows: 5 }, engine: "1.2.3" });
    expect(seen.observed.get("toys.b")?.probed?.values).toEqual({});
    expect(seen.notProbed).toEqual([]);
  });

  it("are asked by the create-only values that they have, since only a new object gets the declared ones", async () => {
    const asked: ProbeRequest[] = [];
    const changed = { wants: { rows: 20, colour: "blue" }, recorded: { rows: 10, colour: "red" } };
    await look({ a: changed }, async (request) => {
      asked.push(request);
      return answer();
    });
    expect(asked.map(({ spec }) => spec)).toEqual([{ rows: 10, colour: "blue" }]);
  });

  it.each<[shown: Json | undefined, applied: boolean | undefined, asked: Json]>([
    [false, true, true],
    ["True", undefined, "True"],
    ["on", false, "on"],
    [undefined, undefined, true],
    [undefined, false, false],
    [false, undefined, false],
  ])("shown with TLS %j, and %j in the state, are asked with %j", async (value, applied, expected) => {
    const asked: ProbeRequest[] = [];
    const secure = { wants: { secure: true }, recorded: defined({ secure: applied }) };
    const probe: Probe = async (request) => {
      asked.push(request);
      return answer();
    };
    const shown = value === undefined ? {} : { secure: { value, source: "echoed" } as const };
    await look({ a: secure }, probe, { shown });
    expect(asked.map(({ spec }) => spec["secure"])).toEqual([expected]);
  });

  it("show the limit of a declared field too", async () => {
    const probe: Probe = async () => ({ is: "answered", values: { rows: 5, usual: 0, most: 5000 } });
    const seen = await look({ a: { wants: { usual: 30_000 }, recorded: {} } }, probe);
    expect(seen.observed.get("toys.a")?.probed?.values).toEqual({ usual: 0, most: 5000 });
  });

  const refusing: Probe = async () => ({
    is: "refused",
    path: "token",
    reason: "the database refuses the declared password",
    wayOut: "graphform apply sets it there",
  });

  it("say of a refused password that apply sets it, unless ignoreChanges leaves it as it is", async () => {
    const left = { ...declared, lifecycle: { ignoreChanges: ["token"] } };
    const { notProbed } = await look({ a: declared, b: left }, refusing);
    expect(notProbed?.map(({ wayOut }) => wayOut?.split(":")[0])).toEqual([
      "graphform apply sets it there",
      "ignoreChanges leaves it as it is",
    ]);
  });

  it.each<[reason: string, scene: Scene, probe: Probe, options: Parameters<typeof look>[2]]>([
    ["not running", { a: declared }, answer, { phase: "stopped" }],
    ["not running", { a: declared }, answer, { phase: "failed" }],
    ["an operation is still running", { a: declared }, answer, { phase: "pending" }],
    [
      "an operation is still running",
      {
        a: {
          ...declared,
          converging: { operation: "update", since: "2026-01-01T00:00:00.000Z", record: {} },
        },
      },
      answer,
      {},
    ],
    [
      "--no-probe",
      { a: declared },
      () => Promise.reject(new Error("it was asked")),
      { unasked: "--no-probe" },
    ],
    ["no database of this service can be reached", { a: declared }, answer, { endpoint: 0 }],
    ["no address", { a: declared }, async () => ({ is: "not-asked", reason: "no address" }), {}],
    ["the database refuses the declared password", { a: declared }, refusing, {}],
    ["may not", { a: declared }, async () => ({ is: "answered", values: {}, denied: "may not" }), {}],
  ])("are counted with the reason: %s", async (reason, scene, probe, options) => {
    const { notProbed } = await look(scene, probe, options);
    const wasAsked = /refuses|may not/.test(reason);
    expect(notProbed).toMatchObject([{ address: "toys.a", reason, ...(wasAsked ? { failed: true } : {}) }]);
    expect(notProbed[0]).not.toHaveProperty(wasAsked ? "login" : "failed");
  });

  it("are not asked without the secrets of the run, nor where nobody declares them", async () => {
    const never: Probe = () => Promise.reject(new Error("it was asked"));
    const silent = await look({ a: declared }, never, { open: undefined });
    const { wants: _wants, ...bound } = declared;
    const orphan = await look({ a: bound }, never);
    expect([silent.notProbed, orphan.notProbed]).toEqual([[], []]);
    expect(orphan.observed.get("toys.a")?.probed).toBeUndefined();
  });

  it("are asked all together: a thousand that do not answer take the time of one", async () => {
    const scene = Object.fromEntries(Array.from({ length: 1000 }, (_, at) => [`t${at}`, declared]));
    const all = Promise.withResolvers<void>();
    let waiting = 0;
    const { notProbed } = await look(scene, async () => {
      waiting += 1;
      if (waiting === 1000) all.resolve();
      await all.promise;
      return { is: "unanswered", reason: "it did not answer in time" };
    });
    expect(notProbed).toHaveLength(1000);
  });

  it("are asked a thousand at once and no more, and the next as soon as one has answered", async () => {
    const scene = Object.fromEntries(Array.from({ length: 2500 }, (_, at) => [`t${at}`, declared]));
    let running = 0;
    let most = 0;
    await look(scene, async () => {
      running += 1;
      most = Math.max(most, running);
      await Promise.resolve();
      running -= 1;
      return answer();
    });
    expect(most).toBeLessThanOrEqual(1000);
  });

  const one = "db.example.com:6379";
  const shared = "toys.a and toys.b show one address: whose database answers there is not known";
  const two: Scene = { a: declared, b: declared, c: declared };

  it("are not asked where two show one address: both are named, and all others are asked", async () => {
    const asked: string[] = [];
    const seen = await look(
      two,
      async ({ live }) => {
        asked.push(live.id);
        return answer();
      },
      { endpoints: { "id-a": one, "id-b": one, "id-c": "other.example.com:6379" } },
    );
    expect(asked).toEqual(["id-c"]);
    expect(seen.notProbed).toMatchObject([
      { address: "toys.a", reason: shared, failed: true },
      { address: "toys.b", reason: shared, failed: true },
    ]);
    expect(seen.observed.get("toys.a")?.probed).toBeUndefined();
  });

  it("are not asked at an address that an object of no address shows too", async () => {
    const never: Probe = () => Promise.reject(new Error("it was asked"));
    const scene: Scene = { a: declared, gone: { wants: {}, recorded: false } };
    const state = { ...planInput(scene).state, resources: {}, serial: 0 };
    const imported: Scene = { a: { ...declared, recorded: false, importId: "id-a" }, gone: { wants: {} } };
    const options = { endpoints: { "id-a": one, "id-x": one }, listed: ["id-a", "id-x"], rest: { state } };
    const { notProbed } = await look(imported, never, options);
    expect(notProbed).toMatchObject([
      { address: "toys.a", reason: expect.stringMatching(/^toys id-x and toys\.a show one address/) },
    ]);
  });

  it("are asked where an import binds anew the object of another address: two names of one object", async () => {
    const taken = { ...declared, recorded: false, importId: "id-a" } as const;
    const { wants: _, ...bound } = declared;
    const identified: Probe = async () => ({ is: "answered", values: { rows: 5 }, identity: "run-1" });
    for (const a of [bound, declared]) {
      const seen = await look({ a, b: taken }, identified, { endpoints: { "id-a": one } });
      expect(seen.notProbed).toEqual([]);
      expect(seen.observed.get("toys.b")?.probed?.values).toEqual({ rows: 5 });
    }
  });

  it("show nothing where one database answers for two, whatever addresses they have", async () => {
    const seen = await look(two, async ({ live }) => ({
      is: "answered",
      values: { rows: 5 },
      identity: live.id === "id-c" ? "run-2" : "run-1",
    }));
    expect(seen.notProbed).toMatchObject([
      { address: "toys.a", reason: expect.stringMatching(/^one database answers for toys\.a and toys\.b/) },
      { address: "toys.b", failed: true },
    ]);
    expect([...seen.observed].map(([, { probed }]) => probed?.values)).toEqual([
      undefined,
      undefined,
      { rows: 5 },
    ]);
  });
});
