/** @module Translates database instances to and from the service. */

import { instanceSchema } from "../fields/instance.ts";
import { isServiceError, ServiceError, withEvidence } from "../model/errors.ts";
import { isObject, type Json, type JsonObject } from "../model/json.ts";
import type { Driver, Kind, Reader } from "../model/kind.ts";
import type { Live, Ref, Seen } from "../model/observed.ts";
import type { Reads, Service } from "../model/service.ts";
import type { Spec } from "../model/spec.ts";
import { traitAt, traitsOf } from "../model/traits.ts";
import { requestBody, rows, wireName } from "./instance-body.ts";
import { healInstance, isInstanceUsable, probeInstance, roleAsker } from "./instance-database.ts";
import { endpointOf, missingEndpoint } from "./instance-endpoint.ts";
import { failoverOf } from "./instance-failover.ts";
import { listAllInstances } from "./instance-list-all.ts";
import { instanceParams } from "./instance-params.ts";
import { checkInstance } from "./instance-rules.ts";
import { askForBackup, backupsOf, showsSnapshotTimes } from "./instance-snapshots.ts";
import {
  declaredTags,
  hasTags,
  isBare,
  ownerIn,
  ownerMark,
  seenTags,
  tagsAfter,
  tagsToSend,
} from "./instance-tags.ts";
import { upgradeBody } from "./instance-upgrade.ts";
import { listedIds, notePartial, wasPartial } from "./listed-ids.ts";
import { phaseOf, shownStatus } from "./phase.ts";

export const instance: Kind = {
  name: "instances",
  noun: "instance",
  type: "graphform_instance",
  schema: instanceSchema,
  operations: {
    create: "instance.create",
    update: "instance.update",
    delete: "instance.delete",
    backup: ["instance.backup", "snapshot.list"],
    mark: "instance.metadata",
  },
  describedBy: "instance.describe",
  outputs: ["id", "status", "host", "port", "endpoint", "region", "createdAt"],
  holdsData: true,
  protectedByDefault: (spec) => spec["tier"] !== "free",
  place: (spec) => ({ tier: spec["tier"] ?? "", component: spec["component"] ?? "" }),
  implicitChildren: (id, spec) => {
    const first = spec["config.graphdbUser"]?.value;
    return typeof first === "string" ? [{ kind: "users", id: `${id}/${first}` }] : [];
  },
  classKey: (spec) =>
    ["tier", "component", "cloudProvider", "region"].map((key) => String(spec[key])).join("/"),
  serverDefaults,
  marksOwner: hasTags,
  ownerMark,
  check: checkInstance,
  reader: (service) => reader(service),
  driver: (service) => driver(service),
};

const traits = traitsOf(instanceSchema);

function reader(service: Reads): Reader {
  return {
    async list(place, signal) {
      const params = instanceParams(place, service.profile);
      const { values } = await service.read({ operation: "instance.list", params }, signal);
      notePartial(service, place, values);
      return listedIds(values);
    },
    isPartial: (place) => wasPartial(service, place),
    listAll: (signal) => listAllInstances(service, (ref, values) => live(ref, values, service), signal),
    async get(ref, signal) {
      const params = { ...instanceParams(ref.place, service.profile), id: ref.id };
      try {
        const { values } = await service.read({ operation: "instance.describe", params }, signal);
        assertSameObject("instance.describe", ref.id, values["id"]);
        return live(ref, values, service);
      } catch (error) {
        if (isServiceError(error, "not-found")) return undefined;
        throw error;
      }
    },
    probe: (request, signal) => probeInstance(request, service, signal),
    backups: (ref, signal) => backupsOf(service, ref.id, signal),
    showsBackupTimes: showsSnapshotTimes(service),
  };
}

function driver(service: Service): Driver {
  const { profile } = service;
  const on = (ref: Ref): { readonly [name: string]: string } => ({
    ...instanceParams(ref.place, profile),
    id: ref.id,
  });
  /** Sends fields that have a request of their own. Tags are set as a whole, so the existing ones are read first. */
  const metadataOf = async (ref: Ref, patch: Spec, signal: AbortSignal): Promise<JsonObject | undefined> => {
    const { deletionProtection } = patch;
    const tags = declaredTags(patch);
    if (deletionProtection === undefined && tags.length === 0) return undefined;
    const protection = deletionProtection === undefined ? {} : { deletionProtection };
    if (tags.length === 0) return protection;
    const { values } = await service.read({ operation: "instance.describe", params: on(ref) }, signal);
    return { ...protection, customTags: tagsAfter(values["customTags"], tags) };
  };
  return {
    ...reader(service),
    async create(spec, signal, owner) {
      const params = instanceParams(instance.place(spec), profile);
      const customTags = hasTags(profile) ? { customTags: tagsToSend(declaredTags(spec), owner) } : {};
      const body = { ...requestBody(spec, service), ...customTags };
      const { values } = await service.write({ operation: "instance.create", params, body }, signal);
      return String(values["id"]);
    },
    async update(ref, patch, signal) {
      const metadata = await metadataOf(ref, patch, signal);
      if (metadata !== undefined)
        await service.write({ operation: "instance.metadata", params: on(ref), body: metadata }, signal);
      const isAside = Object.keys(patch).every((path) => traitAt(traits, path).aside);
      if (metadata !== undefined && isAside) return;
      const call = { operation: "instance.update", params: on(ref), body: requestBody(patch, service) };
      await service.write(call, signal).catch((error: unknown) => {
        // The request before this one has worked.
        throw metadata !== undefined && isServiceError(error)
          ? withEvidence(error, { mayHaveWorked: true })
          : error;
      });
    },
    async delete(ref, signal) {
      await service.write({ operation: "instance.delete", params: on(ref) }, signal);
    },
    backup: (ref, signal) => askForBackup(service, on(ref), signal),
    async operate(ref, verb, signal, choices = {}) {
      const call = { operation: `instance.${verb}`, params: on(ref) };
      if (verb === "upgrade")
        return void (await service.write(
          { ...call, body: upgradeBody(call.params, choices, profile) },
          signal,
        ));
      if (verb !== "failover") return void (await service.write(call, signal));
      const { values } = await service.read({ operation: "instance.describe", params: on(ref) }, signal);
      const askRole = roleAsker(values["resultParams"], service, signal);
      const { topology } = values;
      const failover = await failoverOf(ref.id, topology, choices, askRole, profile.topology);
      const { body, nodeResourceKey } = failover;
      const params = { ...call.params, nodeResourceKey: nodeResourceKey ?? call.params["resourceKey"] ?? "" };
      await service.write({ ...call, params, body }, signal);
    },
    heal: (request, paths, signal) => healInstance(request, paths, service, signal),
    usable: (shown, spec, signal) => isInstanceUsable(shown, spec, service, signal),
  };
}

/** Translates a describe answer; what is secret in it goes no further. */
function live(ref: Ref, values: { readonly [name: string]: Json }, service: Reads): Live {
  const phase = phaseOf(values, service);
  const power = { ready: "running", stopped: "stopped", failed: "failed" }[String(phase.is)];
  const spec: Record<string, Seen> = {};
  for (const [path, value] of Object.entries(ref.place)) spec[path] = { value, source: "described" };
  if (power !== undefined) spec["power"] = { value: power, source: "described" };
  const echo = isObject(values["resultParams"]) ? values["resultParams"] : {};
  for (const [path, row] of rows) {
    if (row["x-secret"] === true) continue;
    const described = values[path];
    const echoed = echo[wireName(path, row, service)];
    if (isShown(described)) spec[path] = { value: described, source: "described" };
    else if (isShown(echoed)) spec[path] = { value: echoed, source: "echoed" };
  }
  Object.assign(spec, seenTags(values["customTags"]));
  const owner = ownerIn(values["customTags"]);
  const { region, createdAt, modifiedAt } = values;
  const status = shownStatus(values, service);
  const address = endpointOf(values, service.profile);
  const endpoint = address === undefined ? {} : { ...address, endpoint: `${address.host}:${address.port}` };
  const shown = Object.entries({ status, region, createdAt }).filter(([, value]) => isShown(value));
  return {
    id: ref.id,
    phase,
    spec,
    outputs: { id: ref.id, ...Object.fromEntries(shown), ...endpoint },
    ...(address !== undefined || phase.is !== "ready"
      ? {}
      : { missing: missingEndpoint(values, service.profile) }),
    ...(owner === undefined ? {} : { owner, whole: ["customTags"] }),
    ...(owner === null && isBare(values["customTags"]) ? { isBare: true } : {}),
    ...(typeof createdAt === "string" ? { createdAt } : {}),
    ...(typeof modifiedAt === "string" ? { modifiedAt } : {}),
  };
}

/** Defaults of the field table for fields that the tier and component offer and the spec leaves out. */
function serverDefaults(spec: Spec): Spec {
  const entries = rows.flatMap(([path, row]): [string, Json][] => {
    const offered =
      (row["x-tiers"]?.includes(String(spec["tier"])) ?? true) &&
      (row["x-components"]?.includes(String(spec["component"])) ?? true);
    // Who is made in no network is in none, though nothing shows it.
    const left = path === "network" ? null : row.default;
    return left === undefined || !offered || spec[path] !== undefined ? [] : [[path, left]];
  });
  return Object.fromEntries(entries);
}

function isShown(value: Json | undefined): value is Json {
  return value !== undefined && value !== null && value !== "";
}

/** Throws the failure `shape` where an answer shows the id of another object than the one that was asked about. */
function assertSameObject(operation: string, asked: string, shown: Json | undefined): void {
  if (typeof shown !== "string" || shown === "" || shown === asked) return;
  const message = `${operation}: the answer is about another object than ${asked}`;
  throw new ServiceError("shape", operation, message, { mayHaveWorked: false });
}
