import { readFileSync } from "node:fs";
import { parse } from "yaml";
import { isObject, type Json, type JsonObject } from "../../src/model/json.ts";
import { type Listening, listen, type Reply, type Seen } from "../hosting/listen.ts";
import { beside, described, type Held, listAnswer } from "./random-answers.ts";
import { type Chance, chanceOf, type Habits, habitsOf, shuffled } from "./random-habits.ts";

/** A service in the vendor's dialect, and what it has. */
export interface RandomCloud {
  readonly service: Listening;
  readonly held: Map<string, Held>;
  readonly users: Map<string, JsonObject[]>;
  /** Requests with another subscription than that of their tier, or with none. */
  readonly strays: string[];
  readonly habits: Habits;
}

interface TierKeys {
  readonly serviceModelKey: string;
  readonly productTierKey: string;
  readonly components?: { readonly [name: string]: string };
}

const profile: { readonly tiers: { readonly [tier: string]: TierKeys } } = parse(
  readFileSync(new URL("../../profiles/falkordb-cloud.yaml", import.meta.url), "utf8"),
);
const tiers = Object.entries(profile.tiers).map(([tier, { components, ...keys }]) => ({
  ...keys,
  tier,
  resources: Object.values(components ?? { only: tier === "free" ? "free" : "standalone" }),
}));

/**
 * A service that answers in one of the shapes that its API description allows, chosen by the seed: all fields optional,
 * unknown ones beside them, nulls, numbers as texts, empty lists left out, a catalogue that is refused.
 */
export async function startRandomCloud(seed: number): Promise<RandomCloud> {
  const chance = chanceOf(seed);
  const world = {
    habits: habitsOf(chance),
    held: new Map<string, Held>(),
    users: new Map<string, JsonObject[]>(),
    strays: [],
  };
  fill(world, chance);
  const service = await listen((seen) => answer(seen, world));
  return Object.assign(world, { service });
}

type World = Omit<RandomCloud, "service">;

/** Databases of others, in every tier but that of cloud accounts; some of a component that no profile knows. */
function fill({ held, users, habits }: World, { one, often }: Chance): void {
  const [first, ...more] = tiers
    .filter(({ tier }) => tier !== "enterprise-byoa")
    .flatMap(({ tier, resources }) => resources.map((resource) => ({ tier, resource })));
  if (first === undefined) throw new Error("the profile has no tiers");
  const count = one(3, 5, 8, 14);
  for (let at = 0; at < count; at += 1) {
    const { tier, resource } = one(first, ...more);
    const id = `instance-old${at}`;
    const size = { nodeInstanceType: one("m6i.large", "x99.mega", "e2-custom-4-8192") };
    held.set(id, {
      ...{ id, tier, resource: often(0.1) ? "octopus" : resource, subscription: `sub-${tier}` },
      createdAt: new Date(Date.UTC(2026, 0, 1, 0, 0, at)).toISOString(),
      params: {
        name: one("a", `old ${at}`, "старый", "ünï ✓"),
        description: habits.nulls ? "" : "was here",
        ...{ falkordbUser: "app", falkordbPassword: "echoed-pw-4711" },
        ...(["pro", "enterprise"].includes(tier) ? size : {}),
        ...(tier === "free" ? {} : { enableTLS: false, falkorDBCacheSize: 30 }),
      },
      tags: one<Json>(null, [], [{ key: "team", value: "x" }]),
      ...{ passing: 0, status: one("RUNNING", "RUNNING", "STOPPED"), isLeaving: false },
    });
    const known = ["reader", "app"].map((username) => ({ username, acl: "~* +PING" }));
    if (often(0.5)) users.set(id, known);
  }
}

function answer(seen: Seen, world: World): Reply {
  const { habits } = world;
  const { pathname, searchParams } = new URL(seen.url, "http://x");
  const at = `${seen.method} ${pathname.replace("/2022-09-01-00/", "")}`;
  if (at === "POST resource-instance/user/signin") return { body: beside(habits, { [habits.token]: jwt() }) };
  if (at === "POST logout") return { status: 200 };
  if (at === "GET service-offering") return catalogue(habits);
  if (at === "GET subscription") return { body: listAnswer(habits, "subscriptions", subscriptions(habits)) };
  if (at === "GET resource-instance") return everything(world);
  const list = /^GET resource-instance\/.*(custom-network|snapshot|audit-events)$/.exec(at)?.[1];
  const keys = { "custom-network": "customNetworks", snapshot: "snapshots", "audit-events": "events" };
  const key = Object.entries(keys).find(([name]) => name === list)?.[1];
  if (key !== undefined) return { body: listAnswer(habits, key, []) };
  if (pathname.startsWith("/v1/customer-ldap/")) return usersOf(seen, pathname, searchParams, world);
  const inside = pathname.split("/v1/prod/")[1];
  return inside === undefined ? refusal(404) : component(seen, inside.split("/"), searchParams, world);
}

function catalogue(habits: Habits): Reply {
  const bodies = { "{}": {}, null: { services: null }, "[]": { services: [], serviceIds: [] } };
  const body = Object.entries(bodies).find(([name]) => name === habits.catalogue)?.[1];
  if (body !== undefined) return { body };
  if (habits.catalogue !== "whole") return refusal(Number(habits.catalogue));
  const offerings = tiers.map(({ tier, serviceModelKey, productTierKey, resources }) =>
    beside(habits, {
      productTierID: `pt-${tier}`,
      productTierURLKey: productTierKey,
      serviceModelURLKey: serviceModelKey,
      resourceParameters: [...resources, "octopus"].map((name) =>
        beside(habits, { resourceId: `r-${tier}-${name}`, urlKey: name }),
      ),
    }),
  );
  const strange = { productTierID: null, resourceParameters: null, offerings: [null, 7, "x"] };
  const services = shuffled<JsonObject>([{ serviceId: "s-1", offerings: shuffled(offerings) }, strange]);
  return { body: listAnswer(habits, "services", services) };
}

function subscriptions(habits: Habits): readonly JsonObject[] {
  const active = shuffled(tiers).map(({ tier }) =>
    beside(habits, { id: `sub-${tier}`, status: "ACTIVE", productTierId: `pt-${tier}` }),
  );
  const old = { id: "sub-old", status: "TERMINATED", productTierId: "pt-pro", roleType: "root" };
  return [{ id: null }, { ...old, defaultSubscription: true }, ...active];
}

function everything({ habits, held }: World): Reply {
  if (habits.everything === "403") return refusal(403);
  if (habits.everything === "{}") return { body: {} };
  if (habits.everything === "null") return { body: { resourceInstances: null } };
  const isBare = habits.everything === "bare";
  const items = shuffled([...held.values()]).map(
    (thing): Json => (isBare ? { id: thing.id, status: "RUNNING" } : described(habits, thing)),
  );
  return { body: listAnswer(habits, "resourceInstances", items) };
}

function component(seen: Seen, parts: readonly string[], query: URLSearchParams, world: World): Reply {
  const { habits, held, strays } = world;
  const [model, key, resource = "", id, verb] = parts;
  const tier = tiers.find((keys) => keys.serviceModelKey === model && keys.productTierKey === key)?.tier;
  if (tier === undefined) return refusal(404);
  if (query.get("subscriptionId") !== `sub-${tier}`) {
    // Where the catalogue is missing, lists are asked under each subscription.
    if (seen.method !== "GET" || habits.catalogue === "whole") strays.push(`${seen.method} ${seen.url}`);
    return refusal(403);
  }
  const here = [...held.values()].filter((thing) => thing.tier === tier && thing.resource === resource);
  if (id === undefined && seen.method === "GET")
    return {
      body: listAnswer(
        habits,
        "ids",
        here.map((thing) => thing.id),
      ),
    };
  if (id === undefined) return create(seen, tier, resource, world);
  const thing = here.find((candidate) => candidate.id === id);
  if (thing === undefined) return refusal(404);
  return seen.method === "GET" ? look(thing, world) : change(seen, thing, verb, habits);
}

function create(seen: Seen, tier: string, resource: string, { habits, held }: World): Reply {
  const { requestParams, customTags = null } = bodyOf(seen);
  const id = `instance-new${"x".repeat(held.size % 3)}${held.size + 1}`;
  held.set(id, {
    ...{ id, tier, resource, subscription: `sub-${tier}`, createdAt: new Date().toISOString() },
    ...{ params: isObject(requestParams) ? requestParams : {}, tags: customTags },
    ...{ passing: habits.passing, status: "RUNNING", isLeaving: false },
  });
  return { status: 202, body: beside(habits, { id }) };
}

function look(thing: Held, { habits, held }: World): Reply {
  if (thing.isLeaving && thing.passing <= 0) {
    held.delete(thing.id);
    return refusal(404);
  }
  thing.passing -= 1;
  return { body: described(habits, thing) };
}

function change(seen: Seen, thing: Held, verb: string | undefined, { passing, accepted }: Habits): Reply {
  const { requestParams, customTags } = bodyOf(seen);
  thing.passing = passing + 1;
  if (seen.method === "DELETE") thing.isLeaving = true;
  if (verb === "metadata") thing.tags = customTags ?? thing.tags;
  if (isObject(requestParams)) thing.params = { ...thing.params, ...requestParams };
  return { status: 202, body: accepted };
}

function usersOf(seen: Seen, path: string, query: URLSearchParams, world: World): Reply {
  const { habits, held, users, strays } = world;
  const [, , , , id = "", , name = ""] = path.split("/");
  if (query.get("subscriptionId") !== held.get(id)?.subscription) {
    strays.push(`${seen.method} ${seen.url}`);
    return { status: 400, body: { statusCode: 400, message: "Subscription ID mismatch" } };
  }
  const own = users.get(id) ?? [];
  const { username = decodeURIComponent(name), acl = "" } = bodyOf(seen);
  if (seen.method === "GET") return { body: listAnswer(habits, "users", own) };
  const rest = own.filter((entry) => entry["username"] !== username);
  users.set(id, seen.method === "DELETE" ? rest : [...rest, { username, acl }]);
  return { body: { message: "done" } };
}

function bodyOf({ body }: Seen): JsonObject {
  const value: Json = body === "" ? {} : JSON.parse(body);
  return isObject(value) ? value : {};
}

function refusal(status: number): Reply {
  return { status, body: { name: "refused", message: `no, ${status}` } };
}

/** A JWT that lives for an hour from now on. */
function jwt(): string {
  const part = (value: Json): string => Buffer.from(JSON.stringify(value)).toString("base64url");
  const iat = Math.floor(Date.now() / 1000);
  return `${part({ alg: "none" })}.${part({ iat, exp: iat + 3600 })}.signature`;
}
