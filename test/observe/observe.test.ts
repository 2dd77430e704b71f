import { describe, expect, it } from "vitest";
import type { Desired } from "../../src/model/desired.ts";
import { ServiceError } from "../../src/model/errors.ts";
import { kindRegistry, type Reader } from "../../src/model/kind.ts";
import type { Live, PhaseName } from "../../src/model/observed.ts";
import type { Bound, StateDocument } from "../../src/model/state.ts";
import { type Observation, observe } from "../../src/observe/observe.ts";
import { type ObserveContext, unreadable } from "../../src/observe/observe-context.ts";
import { type Case, planInput, type Scene } from "../support/plan-input.ts";
import { toyKind, toyProfile, toySchema } from "../support/toy-kind.ts";
import { jumpingClock } from "../support/virtual-clock.ts";

const now = Date.UTC(2026, 0, 1, 12);
const seconds = (ago: number): string => new Date(now - ago * 1000).toISOString();

function live(id: string, spec: Live["spec"] = {}, phase: PhaseName = "ready"): Live {
  return { id, phase: { is: phase, detail: phase.toUpperCase() }, spec, outputs: { id } };
}

interface Service {
  /** What describe knows. */
  readonly lives?: readonly Live[];
  /** What is listed. Default: what describe knows. */
  readonly listed?: readonly string[];
  readonly fails?: boolean;
  /** So many first calls of describe answer 404. */
  readonly hiddenFor?: number;
}

function readerOf({
  lives = [],
  listed = lives.map(({ id }) => id),
  fails = false,
  hiddenFor = 0,
}: Service): Reader {
  let asked = 0;
  return {
    list: async () => listed,
    get: async ({ id }) => {
      if (fails) throw new ServiceError("unavailable", "get", "get: refused");
      asked += 1;
      return asked > hiddenFor ? lives.find((entry) => entry.id === id) : undefined;
    },
  };
}

function look(scene: Scene, service: Service, over: Partial<Bound> = {}): ReturnType<typeof observe> {
  const { desired, state } = planInput(scene);
  const resources = Object.fromEntries(
    Object.entries(state.resources).map(([address, bound]) => [address, { ...bound, ...over }]),
  );
  return observe(desired, contextOf({ ...state, resources }, service));
}

function contextOf(state: StateDocument, service: Service): ObserveContext {
  return {
    kinds: kindRegistry([toyKind()]),
    readers: new Map([["toys", readerOf(service)]]),
    state,
    clock: jumpingClock(now),
    profile: toyProfile,
    signal: new AbortController().signal,
  };
}

const bound: Case = { wants: {}, recorded: { colour: "red", size: 1 } };

describe("what is bound", () => {
  it("is shown with what was last applied, where the service shows nothing", async () => {
    const shown = live("id-a", { colour: { value: "blue", source: "described" } });
    const { observed } = await look({ a: bound }, { lives: [shown] });
    expect(observed.get("toys.a")).toMatchObject({
      address: "toys.a",
      kind: "toys",
      id: "id-a",
      place: {},
      phase: { is: "ready" },
      spec: { colour: { value: "blue", source: "described" }, size: { value: 1, source: "recorded" } },
    });
  });

  it("is named, where the service shows an id", async () => {
    const house = live("id-house");
    const cat = live("id-cat", { home: { value: "id-house", source: "described" } });
    const { observed } = await look({ house: bound, cat: bound }, { lives: [house, cat] });
    expect(observed.get("toys.cat")?.spec["home"]).toEqual({ value: "house", source: "described" });
  });

  it("keeps an id that belongs to nobody here", async () => {
    const cat = live("id-cat", { home: { value: "id-elsewhere", source: "described" } });
    const { observed } = await look({ cat: bound }, { lives: [cat] });
    expect(observed.get("toys.cat")?.spec["home"]?.value).toBe("id-elsewhere");
  });

  const missing: readonly [string, Service, Partial<Bound>, PhaseName | undefined][] = [
    ["unknown to describe and list, and old", {}, {}, undefined],
    ["unknown to describe and list, and young", {}, { createdAt: seconds(10) }, "pending"],
    ["unknown to describe, and listed for listLag and longer", { listed: ["id-a"] }, {}, undefined],
    [
      "unknown while it is being deleted",
      { listed: ["id-a"] },
      { createdAt: seconds(10), converging: { operation: "delete", since: seconds(2), record: {} } },
      undefined,
    ],
    ["shown as deleted", { lives: [live("id-a", {}, "gone")] }, {}, undefined],
  ];
  it.each(missing)("%s", async (_, service, over, phase) => {
    expect((await look({ a: bound }, service, over)).observed.get("toys.a")?.phase.is).toBe(phase);
  });

  const settling: readonly [string, string, number, PhaseName, PhaseName][] = [
    ["an old status right after an update was accepted", "update", 2, "ready", "pending"],
    ["the status once the settling time has passed", "update", 6, "ready", "ready"],
    ["an old status right after a deletion was accepted", "delete", 2, "ready", "pending"],
    ["a new object, which has no old status", "create", 2, "ready", "ready"],
    ["a person who is waited for", "delete", 2, "waiting-for-person", "waiting-for-person"],
  ];
  it.each(settling)("%s", async (_, operation, ago, shown, expected) => {
    const over = { converging: { operation, since: seconds(ago), record: {} } };
    const { observed } = await look({ a: bound }, { lives: [live("id-a", {}, shown)] }, over);
    expect(observed.get("toys.a")?.phase.is).toBe(expected);
  });

  it("has an operation in progress whose status is said, if its kind shows none", async () => {
    const over = { converging: { operation: "update", since: seconds(2), record: {} } };
    const bare = { ...live("id-a"), phase: { is: "ready", detail: "" } as const };
    const { observed } = await look({ a: bound }, { lives: [bare] }, over);
    expect(observed.get("toys.a")?.phase).toEqual({ is: "pending", detail: "in progress" });
  });

  it("is not taken for gone because the service fails", async () => {
    await expect(look({ a: bound }, { fails: true })).rejects.toMatchObject({ failure: "unavailable" });
  });
});

describe("lists", () => {
  it("leave beside the describes of what is bound, once for each place", async () => {
    const { desired, state } = planInput({ a: bound, b: bound });
    const order: string[] = [];
    const reader: Reader = {
      list: async () => {
        order.push("list");
        return ["id-a", "id-b"];
      },
      get: async ({ id }) => {
        await new Promise((resolve) => setImmediate(resolve));
        order.push(id);
        return live(id);
      },
    };
    await observe(desired, { ...contextOf(state, {}), readers: new Map([["toys", reader]]) });
    expect(order).toEqual(["list", "id-a", "id-b"]);
  });
});

describe("what is to be bound", () => {
  const existing: Case = { wants: {}, recorded: false, importId: "toy-7" };

  it("is looked at by its id", async () => {
    const { observed, unmanaged } = await look({ a: existing }, { lives: [live("toy-7")] });
    expect(observed.get("toys.a")).toMatchObject({ id: "toy-7" });
    expect(unmanaged).toEqual([]);
  });

  it("is found although describe hides it once", async () => {
    const { observed } = await look({ a: existing }, { lives: [live("toy-7")], hiddenFor: 1 });
    expect(observed.get("toys.a")).toMatchObject({ id: "toy-7" });
  });

  it.each<[string, Service]>([
    ["is not there", {}],
    ["is shown as deleted", { lives: [live("toy-7", {}, "gone")] }],
    ["is listed, and nothing more", { listed: ["toy-7"] }],
  ])("is a mistake where it %s: nothing is created in its place", async (_, service) => {
    await expect(look({ a: existing }, service)).rejects.toMatchObject({
      code: "import-not-found",
      message: "there is no toy-7 to bind toys.a to",
    });
  });

  it("is of no interest once the address is bound", async () => {
    const { observed } = await look(
      { a: { ...existing, recorded: {}, id: "toy-8" } },
      { lives: [live("toy-8")] },
    );
    expect(observed.get("toys.a")?.id).toBe("toy-8");
  });
});

describe("what nobody declares", () => {
  it("is what is listed at the places that are looked at, and bound to nothing", async () => {
    const service = { lives: [live("id-a")], listed: ["id-a", "toy-8", "toy-9"] };
    const { unmanaged } = await look({ a: bound }, service);
    expect(unmanaged.map(({ id }) => id)).toEqual(["toy-8", "toy-9"]);
  });

  it("is looked at where the place is declared, though nothing is bound there yet", async () => {
    const { observed, unmanaged } = await look({ a: { wants: {} } }, { listed: ["toy-9"] });
    expect(observed.size).toBe(0);
    expect(unmanaged.map(({ id }) => id)).toEqual(["toy-9"]);
  });

  it("is described where the state has never known anything, as after a takeover that found none", async () => {
    const { desired, state } = planInput({ a: { wants: {} } });
    const service = { lives: [live("toy-9")] };
    const shown = async (appliedPlans: readonly string[]): Promise<boolean> => {
      const known = { ...state, serial: 1, resources: {}, appliedPlans };
      const { unmanaged } = await observe(desired, contextOf(known, service));
      return unmanaged[0]?.live !== undefined;
    };
    expect([await shown([]), await shown(["fingerprint"])]).toEqual([true, false]);
  });

  const colour = { ...toySchema.properties["colour"], type: "string", "x-identity": true } as const;
  const named = { ...toySchema, properties: { ...toySchema.properties, colour } };
  const red: Live["spec"] = { colour: { value: "red", source: "described" } };

  /** The context of a plan with a new toy, of a kind with names, where `id-a` may be bound. */
  function withNew(spec: Live["spec"], isBound = true): [readonly Desired[], ObserveContext] {
    const { desired, state } = planInput({ a: bound, b: { wants: { colour: "blue" } } });
    const known = isBound ? state : { ...state, serial: 1, resources: {}, appliedPlans: ["fingerprint"] };
    const context = contextOf(known, { lives: [live("id-a", spec), live("toy-9")] });
    return [desired, { ...context, kinds: kindRegistry([toyKind(undefined, { schema: named })]) }];
  }

  it.each<[boolean, string, ...Parameters<typeof withNew>]>([
    [true, "another address is bound, and the service shows names", red],
    [false, "another address is bound, and the service shows no names", {}],
    [true, "the state knows something, and no object of the kind", {}, false],
  ])("is described (%o) where %s", async (isDescribed, _, ...given) => {
    const { unmanaged } = await observe(...withNew(...given));
    const other = unmanaged.find(({ id }) => id === "toy-9");
    expect(other?.live !== undefined).toBe(isDescribed);
  });

  it.each<[string, Error, boolean]>([
    [
      "is left undescribed if the service forbids to look at it",
      new ServiceError("forbidden", "get", "no"),
      true,
    ],
    ["is not passed over after another error", new Error("broken"), false],
  ])("%s", async (_, error, isPassedOver) => {
    const [desired, context] = withNew(red);
    const reader = context.readers.get("toys");
    if (reader === undefined) throw new Error("unreachable");
    const get: Reader["get"] = async (ref, signal) => {
      if (ref.id === "toy-9") throw error;
      return reader.get(ref, signal);
    };
    const looked = observe(desired, { ...context, readers: new Map([["toys", { ...reader, get }]]) });
    if (isPassedOver) expect((await looked).unmanaged).toMatchObject([{ id: "toy-9" }]);
    else await expect(looked).rejects.toBe(error);
  });

  it("is not looked for where nothing is declared and nothing bound", async () => {
    const desired: readonly Desired[] = [];
    const { state } = planInput({});
    expect(await observe(desired, contextOf(state, { listed: ["toy-9"] }))).toEqual({
      observed: new Map(),
      doubts: new Map(),
      listed: new Map(),
      notProbed: [],
      partialLists: [],
      unread: [],
      unmanaged: [],
    });
  });
});

describe("what cannot be read, where that is skipped", () => {
  const error = new ServiceError("forbidden", "get", "get: 403 forbidden");

  async function skipping(reader: Reader, scene: Scene): Promise<Observation> {
    const { desired, state } = planInput(scene);
    const context = contextOf(state, {});
    return observe(desired, { ...context, readers: new Map([["toys", reader]]), unread: new Map() });
  }

  it("is named with the reason; the others are looked at, and know its name", async () => {
    const cat = live("id-cat", { home: { value: "id-house", source: "described" } });
    const whole = readerOf({ lives: [cat], listed: ["id-cat", "id-house"] });
    const get: Reader["get"] = async (ref, signal) => {
      if (ref.id === "id-house") throw error;
      return whole.get(ref, signal);
    };
    const found = await skipping({ ...whole, get }, { house: bound, cat: bound });
    expect(found.unread).toEqual([
      { address: "toys.house", reason: "get: 403 forbidden", what: "toys.house (id-house)", error },
    ]);
    expect([...found.observed.keys()]).toEqual(["toys.cat"]);
    expect(found.observed.get("toys.cat")?.spec["home"]?.value).toBe("house");
    expect(found.unmanaged).toEqual([]);
  });

  it("is a list, too: what describe does not show is not called gone without it", async () => {
    const list: Reader["list"] = async () => {
      throw error;
    };
    const whole = readerOf({ lives: [live("id-b")] });
    const found = await skipping({ ...whole, list }, { a: bound, b: bound });
    expect(found.unread.map(({ address }) => address)).toEqual(["toys", "toys.a"]);
    expect([...found.observed.keys()]).toEqual(["toys.b"]);
  });

  it("is no look at all where it is a session that ended", async () => {
    const lost = new ServiceError("unauthorized", "get", "get: unauthorized");
    const whole = readerOf({ lives: [live("id-b")] });
    const get: Reader["get"] = async (ref, signal) => {
      if (ref.id === "id-a") throw lost;
      return whole.get(ref, signal);
    };
    await expect(skipping({ ...whole, get }, { a: bound, b: bound })).rejects.toBe(lost);
  });

  it("is no look at all where it is everything: all of it is named, with host, cause and the way on", async () => {
    const [refused, cut] = ["forbidden", "unavailable"].map(
      (failure) =>
        new ServiceError(failure === "forbidden" ? failure : "unavailable", "get", `get: ${failure}`, {
          host: "api.example.com",
          ...(failure === "forbidden" ? { hint: "ask the owner" } : {}),
        }),
    );
    const get: Reader["get"] = async ({ id }) => {
      throw id === "id-b" ? cut : refused;
    };
    const failed = skipping({ ...readerOf({}), get }, { a: bound, b: bound, c: bound });
    await expect(failed).rejects.toMatchObject({
      code: "service-forbidden",
      message:
        "toys.a (id-a), toys.c (id-c) cannot be read at api.example.com: get: forbidden; toys.b (id-b) cannot be read at api.example.com: get: unavailable",
      hint: "ask the owner; --exclude toys.a --exclude toys.b --exclude toys.c goes on without them",
    });
  });

  it("has no way on by --exclude if a list, or an object of no address, is among it", () => {
    const one = { reason: error.message, error };
    const unread = [
      { ...one, address: "toys.a", what: "toys.a (id-a)" },
      { ...one, address: "toys", what: "the list of toys" },
    ];
    expect(unreadable(unread)).toMatchObject({
      message: "toys.a (id-a), the list of toys cannot be read: get: 403 forbidden",
      hint: undefined,
    });
  });
});
