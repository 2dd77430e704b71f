import type { Address } from "../../src/model/address.ts";
import { ServiceError } from "../../src/model/errors.ts";
import { defined, type Json, type JsonObject } from "../../src/model/json.ts";
import type { Answer, Call } from "../../src/model/service.ts";
import { type Ending, objectOf, type Registry, refused } from "./registry.ts";
import { isLeaving, isThere, type Thing } from "./thing.ts";

/** Who sends a request, and who is told of it before it works. */
export interface Sender {
  /** The address that the sender declares for what carries this tag. */
  addressOf(tag: number): Address | undefined;
  protects(address: Address): boolean;
  /** A write is about to work upon this object. */
  writes(thing: Thing, call: Call): void;
  /** A create has worked. */
  made(thing: Thing): void;
  /** What describe has shown it. */
  saw(thing: Thing): void;
}

type Handler = (
  call: Call,
  registry: Registry,
  sender: Sender,
  ending: Ending,
) => { readonly [name: string]: Json };

/** The work of a request as the specification says, with the liberties of wire facts. Throws ServiceError. */
export function handle(call: Call, registry: Registry, sender: Sender, ending: Ending): Answer {
  const handler = handlers[call.operation];
  if (handler === undefined) throw new Error(`the simulated service does not know ${call.operation}`);
  const values = handler(call, registry, sender, ending);
  return { values, body: call.operation === "plans.list" ? servicePlans : null };
}

const servicePlans: Json = [
  {
    serviceModelKey: "byoa",
    productTierKey: "enterprise-byoa",
    resourceParameters: [{ resourceId: "r-injectedaccountconfig-1", urlKey: "account", name: "account" }],
  },
];

/** What an update of an instance may not hold (specification 2.2). */
const fixed = new Set(["region", "cloud_provider", "custom_network_id"]);
const fixedParams = new Set([
  "graphdbUser",
  "graphDBCacheSize",
  "memoryRequestsAndLimits",
  "cloud_provider_account_config_id",
]);

const handlers: { readonly [operation: string]: Handler } = {
  "plans.list": () => ({}),
  "instance.list": ({ params }, registry) => ({ ids: registry.listed("instances", placeOf(params)) }),
  "instance.describe": (call, registry, sender) => {
    const thing = instanceAt(call, registry);
    const { status, top, params, modifiedAt } = registry.shown(thing);
    sender.saw(thing);
    return {
      status,
      cloudProvider: top["cloud_provider"] ?? "",
      region: top["region"] ?? "",
      ...named("networkType", top["network_type"]),
      ...named("network", top["custom_network_id"]),
      ...times(thing.bornAt, modifiedAt, registry),
      ...(status === "RUNNING" ? { host: `${thing.id}.example.com`, port: 6379 } : {}),
      ...(isEchoed(thing, registry) ? { resultParams: echoed(params) } : {}),
    };
  },
  "instance.create": ({ operation, params, body }, registry, sender, ending) => {
    const { requestParams, ...top } = objectOf(body);
    const asked = objectOf(requestParams);
    const network = top["custom_network_id"];
    if (network !== undefined && !isUsable(registry.at(String(network))))
      throw refused("invalid", operation, 400);
    const account = asked["cloud_provider_account_config_id"];
    if (account !== undefined && !isUsable(registry.at(String(account).replace("config-", ""))))
      throw refused("invalid", operation, 400);
    const thing = born(
      "instances",
      placeOf(params),
      { top, params: asked },
      String(asked["graphdbPassword"]),
      registry,
      sender,
    );
    registry.begin(thing, "create", "DEPLOYING", ending, { status: "RUNNING" });
    return { id: thing.id };
  },
  "instance.update": (call, registry, sender, ending) => {
    const { requestParams, ...top } = objectOf(call.body);
    const asked = objectOf(requestParams);
    const thing = instanceAt(call, registry);
    sender.writes(thing, call);
    if (
      Object.keys(top).some((name) => fixed.has(name)) ||
      Object.keys(asked).some((name) => fixedParams.has(name))
    ) {
      throw refused("invalid", call.operation, 400);
    }
    free(thing, ["RUNNING", "FAILED"], call.operation);
    const next = { top: { ...thing.look.top, ...top }, params: { ...thing.look.params, ...asked } };
    // What fails may have done all of it or nothing.
    if (ending === "fails" && registry.dice.is(0.5)) thing.look = { ...thing.look, ...next };
    registry.begin(thing, "update", "DEPLOYING", ending, { status: "RUNNING", ...next });
    return {};
  },
  "instance.delete": (call, registry, sender, ending) => {
    const thing = instanceAt(call, registry);
    sender.writes(thing, call);
    const isBusy =
      thing.work !== undefined && (thing.work.operation === "delete" || !registry.options.deleteAnytime);
    if (isBusy) throw refused("busy", call.operation, 409);
    registry.leave(thing, ending);
    return {};
  },
  "instance.start": verb("start", ["STOPPED"], "STARTING", "RUNNING"),
  "instance.stop": verb("stop", ["RUNNING"], "STOPPING", "STOPPED"),
  "instance.restart": verb("restart", ["RUNNING", "FAILED"], "RESTARTING", "RUNNING"),
  "instance.backup": (call, registry, sender, ending) => {
    const thing = instanceAt(call, registry);
    sender.writes(thing, call);
    free(thing, ["RUNNING"], call.operation);
    // A snapshot that fails leaves the database as it was; the service's own ones come at any time.
    registry.begin(thing, "backup", "BACKING_UP", undefined, { status: "RUNNING" });
    if (registry.dice.is(0.3)) registry.snapshot(thing, true, undefined);
    // What fails may never show a snapshot at all.
    if (ending !== "fails" || registry.dice.is(0.4)) registry.snapshot(thing, false, ending);
    return {};
  },
  "snapshot.list": (_call, registry) => ({
    items: registry.snapshots
      .filter(
        ({ id, listedFrom, bornAt }) =>
          registry.now() >= listedFrom &&
          !registry.moments.isUnlisted({ id, kind: "snapshots", place: "", bornAt }),
      )
      .map(({ id, instanceId, isAutomatic, bornAt, until, ends }) => ({
        snapshotId: id,
        sourceInstanceId: instanceId,
        snapshotType: isAutomatic ? "AutomatedSnapshot" : "ManualSnapshot",
        status: registry.now() < until ? "DEPLOYING" : ends,
        createdTime: new Date(bornAt + registry.options.skew).toISOString(),
      })),
  }),

  "account.list": (_call, registry) => ({ ids: registry.listed("cloudAccounts", "") }),
  "account.get": ({ operation, params }, registry, sender) => {
    const thing = registry.find("cloudAccounts", params["id"] ?? "", operation);
    const look = registry.shown(thing);
    sender.saw(thing);
    const { cloud_provider, ...config } = look.params;
    const echo = registry.options.echo ? config : {};
    return {
      status: look.status,
      cloudProvider: cloud_provider ?? "",
      ...times(thing.bornAt, look.modifiedAt, registry),
      resultParams: { ...echo, cloud_provider_account_config_id: `config-${thing.id}` },
    };
  },
  "account.describe": ({ operation, params }, registry) => {
    const thing = registry.find("cloudAccounts", (params["id"] ?? "").replace("config-", ""), operation);
    const status =
      thing.awaits === undefined ? "READY" : thing.awaits === "bootstrap" ? "PENDING" : "READY_TO_OFFBOARD";
    return { status, instructions: "run this" };
  },
  "account.create": ({ body }, registry, sender) => {
    const asked = objectOf(objectOf(body)["requestParams"]);
    const thing = born(
      "cloudAccounts",
      "",
      { top: {}, params: asked },
      String(asked["aws_account_id"]),
      registry,
      sender,
    );
    thing.look = { ...thing.look, status: "DEPLOYING" };
    thing.awaits = "bootstrap";
    return { id: thing.id };
  },
  "account.delete": (call, registry, sender, ending) => {
    const { operation, params } = call;
    const thing = registry.find("cloudAccounts", params["id"] ?? "", operation);
    sender.writes(thing, call);
    if (thing.work !== undefined) throw refused("busy", operation, 409);
    if (thing.awaits === "offboard") throw refused("conflict", operation, 409);
    if (registry.options.twoPhase && thing.look.status === "READY") {
      thing.awaits = "offboard";
      thing.look = { ...thing.look, status: "DELETING", modifiedAt: registry.now() };
      return {};
    }
    delete thing.awaits;
    registry.leave(thing, ending);
    return {};
  },

  "network.list": (_call, registry) => ({ items: registry.listed("networks", "").map((id) => ({ id })) }),
  "network.describe": ({ operation, params }, registry, sender) => {
    const thing = registry.find("networks", params["id"] ?? "", operation);
    const { top, modifiedAt } = registry.shown(thing);
    sender.saw(thing);
    return {
      id: thing.id,
      ...named("name", top["name"]),
      cloudProvider: top["cloudProviderName"] ?? "",
      region: top["cloudProviderRegion"] ?? "",
      cidr: top["cidr"] ?? "10.0.0.0/16",
      ...times(thing.bornAt, modifiedAt, registry),
    };
  },
  "network.create": ({ body }, registry, sender) => {
    const top = objectOf(body);
    const thing = born("networks", "", { top, params: {} }, String(top["name"]), registry, sender);
    return { id: thing.id };
  },
  "network.update": (call, registry, sender) => {
    const thing = registry.find("networks", call.params["id"] ?? "", call.operation);
    sender.writes(thing, call);
    thing.look = {
      ...thing.look,
      top: { ...thing.look.top, ...objectOf(call.body) },
      modifiedAt: registry.now(),
    };
    return {};
  },
  "network.delete": (call, registry, sender) => {
    const thing = registry.find("networks", call.params["id"] ?? "", call.operation);
    sender.writes(thing, call);
    registry.advance();
    const isUsed = registry.things.some(
      (other) => isThere(other) && other.look.top["custom_network_id"] === thing.id,
    );
    if (isUsed) throw refused("conflict", call.operation, 409);
    thing.goneAt = registry.now();
    return {};
  },

  "user.list": ({ operation, params }, registry) => {
    const home = homeOf(operation, params, registry);
    const ids = registry.listed("users", home.id);
    return { items: ids.flatMap((id): JsonObject[] => userItem(registry.at(id), registry)) };
  },
  "user.create": (call, registry, sender) => {
    const { operation, params, body } = call;
    const home = homeOf(operation, params, registry);
    const { username, password, acl } = objectOf(body);
    const id = `${home.id}/${String(username)}`;
    const before = registry.at(id);
    if (before !== undefined && isThere(before)) throw refused("conflict", operation, 409);
    born(
      "users",
      home.id,
      { top: { username: username ?? "", acl: acl ?? "", password: password ?? "" }, params: {} },
      String(password),
      registry,
      sender,
      id,
    );
    return {};
  },
  "user.update": (call, registry, sender) => {
    const thing = userAt(call, registry);
    sender.writes(thing, call);
    thing.look = {
      ...thing.look,
      top: { ...thing.look.top, ...objectOf(call.body) },
      modifiedAt: registry.now(),
    };
    return {};
  },
  "user.delete": (call, registry, sender) => {
    const thing = userAt(call, registry);
    sender.writes(thing, call);
    thing.goneAt = registry.now();
    return {};
  },
};

function verb(operation: string, from: readonly string[], through: string, to: string): Handler {
  return (call, registry, sender, ending) => {
    const thing = instanceAt(call, registry);
    sender.writes(thing, call);
    free(thing, from, call.operation);
    registry.begin(thing, operation, through, ending, { status: to });
    return {};
  };
}

/** One operation at a time, and only from where it leads somewhere (wire facts 2.4). */
function free(thing: Thing, from: readonly string[], operation: string): void {
  if (thing.work !== undefined) throw refused("busy", operation, 409);
  if (!from.includes(thing.look.status)) throw refused("conflict", operation, 409);
}

function born(
  kind: string,
  place: string,
  look: Pick<Thing["look"], "top" | "params">,
  marked: string,
  registry: Registry,
  sender: Sender,
  id = `${kind.slice(0, -1)}-${registry.things.length + 1}`,
): Thing {
  const tag = tagIn(marked);
  const madeFor = tag === undefined ? undefined : sender.addressOf(tag);
  const thing = registry.bear({
    id,
    kind,
    place,
    look: { status: kind === "networks" || kind === "users" ? "" : "PENDING", ...look },
    ...defined({ tag }),
    madeFor: madeFor ?? "nobody",
    protects: new Set([madeFor === undefined ? true : sender.protects(madeFor)]),
  });
  sender.made(thing);
  return thing;
}

/** The tag in the field that carries it: a planted secret, the name of a network, an account number. */
function tagIn(text: string): number | undefined {
  const [, secret, name, account] = /^s3cret-(\d+)-|^net (\d+) |^(\d{6})\d{6}$/.exec(text) ?? [];
  const found = secret ?? name ?? account;
  return found === undefined ? undefined : Number(found);
}

function instanceAt({ operation, params }: Call, registry: Registry): Thing {
  const thing = registry.find("instances", params["id"] ?? "", operation);
  if (thing.place !== placeOf(params)) throw refused("not-found", operation, 404);
  return thing;
}

/** The users host answers for an instance that it does not know as it pleases. */
function homeOf(operation: string, params: Call["params"], registry: Registry): Thing {
  const home = registry.at(params["instanceId"] ?? "");
  registry.advance();
  const isDenied = home !== undefined && !isLeaving(home) && registry.moments.isDenied(home);
  if (home !== undefined && isThere(home) && !isDenied) return home;
  if (registry.options.usersOfNobody === 404) throw refused("not-found", operation, 404);
  const isRead = operation === "user.list";
  throw new ServiceError(isRead ? "unavailable" : "lost", operation, `${operation}: failed`, {
    status: 500,
    mayHaveWorked: !isRead,
  });
}

/** An update or delete of a user that is not there is a 500 (wire facts 1.6). */
function userAt({ operation, params }: Call, registry: Registry): Thing {
  const home = homeOf(operation, params, registry);
  const thing = registry.at(`${home.id}/${params["username"] ?? ""}`);
  if (thing !== undefined && isThere(thing) && !registry.moments.isDenied(thing)) return thing;
  throw new ServiceError("lost", operation, `${operation}: failed`, { status: 500, mayHaveWorked: true });
}

function userItem(thing: Thing | undefined, registry: Registry): JsonObject[] {
  if (thing === undefined) return [];
  const { top } = registry.shown(thing);
  return [{ username: top["username"] ?? "", acl: top["acl"] ?? "" }];
}

function isUsable(thing: Thing | undefined): boolean {
  return thing !== undefined && isThere(thing) && ["", "READY"].includes(thing.look.status);
}

function placeOf(params: Call["params"]): string {
  return `${params["productTierKey"]}/${params["resourceKey"]}`;
}

/** The service shows parameters as text, passwords in clear too, and keeps numReplicas to itself (wire facts 4). */
function echoed(params: { readonly [name: string]: Json }): JsonObject {
  const shown = Object.entries(params).filter(([name]) => name !== "numReplicas");
  return Object.fromEntries(shown.map(([name, value]): [string, Json] => [name, String(value)]));
}

/** What was declared may not be echoed right after a create (wire facts 7.2). */
export function isEchoed(thing: Thing, { options, now }: Registry): boolean {
  return options.echo && (thing.madeFor === undefined || now() >= thing.bornAt + options.stale);
}

function named(name: string, value: Json | undefined): JsonObject {
  return value === undefined ? {} : { [name]: value };
}

function times(bornAt: number, modifiedAt: number, registry: Registry): JsonObject {
  const { skew } = registry.options;
  return {
    createdAt: new Date(bornAt + skew).toISOString(),
    modifiedAt: new Date(modifiedAt + skew).toISOString(),
  };
}
