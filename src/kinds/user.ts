/** @module Translates database users to and from the users host. */
import { userSchema } from "../fields/user.ts";
import { shownAcl } from "../model/acl.ts";
import { isServiceError, ServiceError } from "../model/errors.ts";
import { defined, type JsonObject, mapped, objectsIn } from "../model/json.ts";
import type { Driver, Kind, Reader } from "../model/kind.ts";
import type { Live, Ref, Seen } from "../model/observed.ts";
import { perText, singleFlight } from "../model/once.ts";
import { notAsked, type ProbeAnswer, type ProbeRequest } from "../model/probe.ts";
import type { Call, Reads, Service } from "../model/service.ts";
import { defineKind } from "./define-kind.ts";
import { notePartial, toWire, unlessMissing, wasPartial } from "./resource.ts";
import { answerTo, speaksTls, targetOf } from "./running-database.ts";
import { checkUser } from "./user-rules.ts";

/** Database users of an instance, kept by the users host. Their id is instance/name. */
export const user: Kind = defineKind({
  name: "users",
  noun: "user",
  schema: userSchema,
  outputs: ["id", "username"],
  idAt: (place, name) => (name.startsWith(idOf(place, "")) ? name : idOf(place, name)),
  namedBy: "username",
  classFields: ["instance", "username"],
  check: checkUser,
  reader: (service) => reader(service),
  writer: (service) => writer(service),
});

function idOf(place: JsonObject, username: string): string {
  return `${String(place["instance"])}/${username}`;
}

function reader(service: Reads): Reader {
  // Looks for several users at the same moment share one request.
  const list = perText((instance) =>
    singleFlight((signal: AbortSignal) => readUsers(instance, service, signal)),
  );
  const isPartial = (place: JsonObject): boolean =>
    wasPartial(service, { instance: String(place["instance"]) });
  return {
    isPartial,
    async list(place, signal) {
      const users = await list(String(place["instance"]))(signal);
      return users === undefined ? [] : [...users.keys()].map((username) => idOf(place, username));
    },
    async get(ref, signal) {
      const prefix = idOf(ref.place, "");
      // The search for a lost user asks for others of the same place by their ids.
      const username = ref.id.startsWith(prefix)
        ? ref.id.slice(prefix.length)
        : String(ref.place["username"]);
      const users = await list(String(ref.place["instance"]))(signal);
      if (users === undefined) return service.offers("user.list") ? undefined : live(ref);
      const acl = users.get(username);
      // A list of a part proves nothing about the user that it leaves out.
      if (acl === undefined && isPartial(ref.place)) return live(ref);
      return acl === undefined ? undefined : live({ ...ref, place: { ...ref.place, username } }, acl);
    },
    probe: (request, signal) => probeUser(request, service, signal),
  };
}

function writer(service: Service): Pick<Driver, "create" | "update" | "delete"> {
  const on = (place: JsonObject): { readonly [name: string]: string } => ({
    instanceId: String(place["instance"]),
    username: String(place["username"]),
  });
  return {
    async create(spec, signal) {
      const { username = "" } = spec;
      const params = { instanceId: String(spec["instance"]) };
      const body = { username, ...toWire(userSchema, spec, service) };
      await service.write({ operation: "user.create", params, body }, signal);
      return idOf(spec, String(username));
    },
    async update(ref, patch, signal) {
      const body = toWire(userSchema, patch, service);
      await writeTo({ operation: "user.update", params: on(ref.place), body }, ref, service, signal);
    },
    async delete(ref, signal) {
      await writeTo({ operation: "user.delete", params: on(ref.place) }, ref, service, signal);
    },
  };
}

/** Sends a write on a user. A 500 may mean that there is none: the list decides, and one that is not there is `not-found`. */
async function writeTo(call: Call, ref: Ref, service: Service, signal: AbortSignal): Promise<void> {
  try {
    await service.write(call, signal);
  } catch (error) {
    if (!isServiceError(error, "lost") || error.status === undefined) throw error;
    const instance = String(ref.place["instance"]);
    const users = await readUsers(instance, service, signal);
    const { username } = call.params;
    const isPartial = wasPartial(service, { instance });
    if (users === undefined || isPartial || username === undefined || users.has(username)) throw error;
    const message = `${call.operation}: there is no user ${JSON.stringify(username)}`;
    throw new ServiceError("not-found", call.operation, message, { status: error.status, cause: error });
  }
}

/** The users of an instance with their access lists; undefined: no instance. */
async function readUsers(
  instance: string,
  service: Reads,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, string> | undefined> {
  if (!service.offers("user.list")) return undefined;
  return unlessMissing(async () => {
    const call = { operation: "user.list", params: { instanceId: instance } };
    const { values } = await service.read(call, signal);
    notePartial(service, { instance }, values);
    const users = objectsIn(values["items"]);
    // An access list may hold a password, since it is stored as it was sent: passwords are removed here.
    return new Map(users.map((entry) => [String(entry["username"]), shownAcl(String(entry["acl"] ?? ""))]));
  });
}

/** A user with its access list. A service that cannot list users shows no values of one: then the recorded values are used. */
function live({ id, place }: Ref, acl?: string): Live {
  const { instance = "", username = "" } = place;
  const shown = { instance, username, ...defined({ acl }) };
  const spec = mapped(acl === undefined ? {} : shown, (value): Seen => ({ value, source: "described" }));
  return { id, phase: { is: "ready", detail: "" }, spec, outputs: { id, username } };
}

/** Signs in once as the declared user, without a command: a refused one would stand in the database's ACL LOG. */
async function probeUser(
  { spec, referents }: ProbeRequest,
  service: Reads,
  signal: AbortSignal,
): Promise<ProbeAnswer> {
  const instance = referents["instance"];
  const { username, password } = spec;
  const { outputs = {}, spec: shown = {} } = instance ?? {};
  const target = targetOf(outputs, { username, password }, speaksTls(shown), service);
  if (typeof target === "string") return notAsked(target);
  const { signIn } = await import("../database/parameters.ts");
  try {
    await signIn(target, signal);
    return { is: "answered", values: { password: true } };
  } catch (error) {
    if (signal.aborted) throw error;
    return answerTo(error, shown, "password");
  }
}
