import { fillPath } from "../../src/hosting/wire/request-url.ts";
import { ServiceError, type ServiceFailure } from "../../src/model/errors.ts";
import { defined, isObject, type Json, type JsonObject } from "../../src/model/json.ts";
import type { Answer, Call, Profile, Service } from "../../src/model/service.ts";

/** One object as the fake keeps it. */
interface Thing {
  readonly id: string;
  /** Where it is listed: tier and component, `accounts`, `networks`. */
  readonly shelf: string;
  readonly createdAt: string;
  values: JsonObject;
  params: JsonObject;
  status: string;
  /** What becomes of it with the next look but one. */
  next: "READY" | "RUNNING" | "STOPPED" | "gone" | undefined;
}

interface User {
  readonly username: string;
  acl: string;
}

/** What the fake is asked with; names that a call does not have are empty. */
interface Asked {
  readonly params: { readonly [name: string]: string };
  readonly body: JsonObject;
  readonly shelf: string;
  readonly id: string;
}

/**
 * The hosting service in memory, at the interface that kinds speak to: written from the specification's words, it shares
 * nothing with the client and nothing with the local platform. Work takes one look; whoever waits for a person has one.
 */
export function fakeService(profile: Profile, told: (path: string) => void): Service {
  const things = new Map<string, Thing>();
  const users = new Map<string, User[]>();
  let born = 0;

  const add = (asked: Asked, shelf: string, values: JsonObject, next: Thing["next"]): Thing => {
    born += 1;
    const { requestParams } = asked.body;
    const thing: Thing = {
      id: `${shelf.split("/").at(-1)}-${born}`,
      shelf,
      createdAt: new Date(Date.UTC(2026, 0, 1, 0, 0, born)).toISOString(),
      values,
      params: isObject(requestParams) ? requestParams : {},
      status: next === undefined ? "READY" : "DEPLOYING",
      next,
    };
    things.set(thing.id, thing);
    return thing;
  };
  const find = ({ id, shelf }: Asked): Thing => {
    const thing = things.get(id);
    if (thing === undefined || thing.shelf !== shelf) throw refusal("not-found", 404, `${id} not found`);
    return thing;
  };
  /** What one look shows; the next one shows how it ended. */
  const look = (thing: Thing): Thing => {
    const shown = { ...thing };
    if (thing.next === "gone") things.delete(thing.id);
    else if (thing.next !== undefined) thing.status = thing.next;
    thing.next = undefined;
    return shown;
  };
  const begin = (thing: Thing, status: string, next: Thing["next"]): Answer => {
    thing.status = status;
    thing.next = next;
    return nothing;
  };
  const listed = (shelf: string): readonly string[] =>
    [...things.values()].filter((thing) => thing.shelf === shelf).map(({ id }) => id);
  const described = (thing: Thing, more: JsonObject): Answer => {
    const { status, createdAt, values, params } = look(thing);
    const echo = Object.entries(params).filter(([name]) => name !== "numReplicas");
    const resultParams = {
      ...Object.fromEntries(echo.map(([name, value]) => [name, String(value)])),
      ...more,
    };
    return answer({ status, createdAt, modifiedAt: createdAt, ...values, resultParams });
  };
  const usersOf = ({ params }: Asked): User[] => {
    const instanceId = params["instanceId"] ?? "";
    const found = users.get(instanceId);
    if (found === undefined) throw refusal("unavailable", 500, "Failed to look up the instance");
    return found;
  };

  const operations: { readonly [operation: string]: (asked: Asked) => Answer } = {
    "plans.list": () =>
      answer({}, [
        {
          serviceModelKey: "byoa",
          productTierKey: "enterprise-byoa",
          resourceParameters: [
            { resourceId: "r-1", urlKey: "standalone", name: "Standalone" },
            { resourceId: "r-injectedaccountconfig-1", urlKey: "accounts", name: "Account" },
          ],
        },
      ]),
    "instance.create": (asked) => {
      const {
        cloud_provider: cloudProvider = "",
        region = "",
        network_type: type,
        custom_network_id: network,
      } = asked.body;
      const networkType = type ?? (network === undefined ? "PUBLIC" : "INTERNAL");
      const values = { cloudProvider, region, networkType, ...defined({ network }) };
      const thing = add(asked, asked.shelf, values, "RUNNING");
      users.set(thing.id, [{ username: String(thing.params["graphdbUser"]), acl: "~* +@all" }]);
      return answer({ id: thing.id });
    },
    "instance.list": ({ shelf }) => answer({ ids: listed(shelf) }),
    "instance.describe": (asked) =>
      described(find(asked), { graphdbHostname: "db.example.com", graphdbPort: 6379 }),
    "instance.update": (asked) => {
      const thing = find(asked);
      const { requestParams, network_type: networkType } = asked.body;
      if (isObject(requestParams)) thing.params = { ...thing.params, ...requestParams };
      if (networkType !== undefined) thing.values = { ...thing.values, networkType };
      return begin(thing, "DEPLOYING", "RUNNING");
    },
    "instance.delete": (asked) => begin(find(asked), "DELETING", "gone"),
    "instance.start": (asked) => begin(find(asked), "STARTING", "RUNNING"),
    "instance.stop": (asked) => begin(find(asked), "STOPPING", "STOPPED"),
    "instance.restart": (asked) => begin(find(asked), "RESTARTING", "RUNNING"),

    "account.create": (asked) =>
      answer({
        id: add(asked, "accounts", { cloudProvider: asked.body["cloud_provider"] ?? "" }, "READY").id,
      }),
    "account.list": () => answer({ ids: listed("accounts") }),
    "account.get": (asked) =>
      described(find({ ...asked, shelf: "accounts" }), {
        cloud_provider_account_config_id: `ac-${asked.id}`,
      }),
    "account.describe": ({ id }) => answer({ id, status: "VERIFYING" }),
    "account.delete": (asked) => begin(find({ ...asked, shelf: "accounts" }), "DELETING", "gone"),

    "network.create": (asked) => {
      const {
        name = "",
        cloudProviderName: cloudProvider = "",
        cloudProviderRegion: region = "",
        cidr = "10.0.0.0/16",
      } = asked.body;
      return answer({ id: add(asked, "networks", { name, cloudProvider, region, cidr }, undefined).id });
    },
    "network.list": () => answer({ items: listed("networks").map((id) => ({ id })) }),
    "network.describe": (asked) => described(find({ ...asked, shelf: "networks" }), {}),
    "network.update": (asked) => {
      const thing = find({ ...asked, shelf: "networks" });
      thing.values = { ...thing.values, ...asked.body };
      return nothing;
    },
    "network.delete": (asked) => {
      things.delete(find({ ...asked, shelf: "networks" }).id);
      return nothing;
    },

    "user.list": (asked) => answer({ items: usersOf(asked).map(({ username, acl }) => ({ username, acl })) }),
    "user.create": (asked) => {
      const known = usersOf(asked);
      const { username, acl } = asked.body;
      if (known.some((user) => user.username === username)) throw refusal("conflict", 409, "it exists");
      known.push({ username: String(username), acl: String(acl) });
      return nothing;
    },
    "user.update": (asked) => {
      const user = usersOf(asked).find(({ username }) => username === asked.params["username"]);
      if (user === undefined) throw refusal("lost", 500, "Failed to modify user");
      if (typeof asked.body["acl"] === "string") user.acl = asked.body["acl"];
      return nothing;
    },
    "user.delete": (asked) => {
      const known = usersOf(asked);
      const at = known.findIndex(({ username }) => username === asked.params["username"]);
      if (at < 0) throw refusal("lost", 500, "Failed to delete user");
      known.splice(at, 1);
      return nothing;
    },
  };

  const ask = async ({ operation, params, body = {} }: Call): Promise<Answer> => {
    const endpoint = profile.operations[operation];
    const work = operations[operation];
    if (endpoint === undefined || work === undefined) throw new Error(`the fake has no ${operation}`);
    told(fillPath(operation, endpoint, { ...profile.keys, subscriptionId: "sub-1", ...params }));
    const shelf = [params["serviceModelKey"], params["productTierKey"], params["resourceKey"]].join("/");
    return work({ params, body, shelf, id: params["id"] ?? "" });
  };
  return {
    profile,
    hide: (text) => text,
    offers: (operation) => Object.hasOwn(profile.operations, operation),
    date: () => Math.floor(Date.now() / 1000) * 1000,
    read: ask,
    write: ask,
  };
}

const nothing: Answer = { body: null, values: {} };

function answer(values: JsonObject, body: Json = null): Answer {
  return { body, values };
}

function refusal(failure: ServiceFailure, status: number, message: string): ServiceError {
  return new ServiceError(failure, "fake", message, { status, mayHaveWorked: failure === "lost" });
}
