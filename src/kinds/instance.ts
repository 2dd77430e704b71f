/** @module Translates database instances to and from the service. */
import { instanceSchema } from "../fields/instance.ts";
import type { Values } from "../hosting/wire/spelling.ts";
import { isServiceError, ServiceError, withEvidence } from "../model/errors.ts";
import { fieldRows, isOfferedBy, rowAt } from "../model/field-schema.ts";
import { defined, type JsonObject, mapped } from "../model/json.ts";
import type { Driver, Kind, Reader } from "../model/kind.ts";
import type { Live, Owner, Ref, Seen } from "../model/observed.ts";
import type { Reads, Service } from "../model/service.ts";
import type { Spec } from "../model/spec.ts";
import { defineKind, tableDefaults } from "./define-kind.ts";
import { askForBackup, backupsOf, showsSnapshotTimes } from "./instance-history.ts";
import { listAllInstances } from "./instance-list-all.ts";
import {
  describedValues,
  endpointOf,
  failoverOf,
  instanceParams,
  missingEndpoint,
  nodeAddresses,
  upgradeBody,
} from "./instance-operations.ts";
import { checkInstance } from "./instance-rules.ts";
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
import {
  fromWire,
  isShown,
  type Params,
  phaseOf,
  resourceReader,
  resourceWriter,
  shownStatus,
  timesOf,
  toWire,
} from "./resource.ts";
import { healInstance, isInstanceUsable, loginsOf, probeInstance, roleAsker } from "./running-database.ts";

export const instance: Kind = defineKind({
  name: "instances",
  noun: "instance",
  schema: instanceSchema,
  operations: {
    backup: ["instance.backup", "snapshot.list"],
    power: ["instance.stop", "instance.start"],
    mark: "instance.metadata",
  },
  outputs: ["id", "status", "host", "port", "endpoint", "region", "createdAt"],
  unknownAfter: { power: ["status"], networkType: ["host", "port", "endpoint"] },
  ofRunning: ["host", "port", "endpoint"],
  holdsData: true,
  protectedByDefault: (spec) => spec["tier"] !== "free",
  implicitChildren: (id, spec) => {
    const first = spec["config.graphdbUser"]?.value;
    return typeof first === "string" ? [{ kind: "users", id: `${id}/${first}` }] : [];
  },
  classFields: ["tier", "component", "cloudProvider", "region"],
  // An instance created without a network has none; the service does not say so.
  serverDefaults: (spec) => ({
    ...(spec["network"] === undefined && isOfferedBy(networkRow, spec) ? { network: null } : {}),
    ...tableDefaults(instanceSchema, spec),
  }),
  marksOwner: hasTags,
  ownerMark,
  check: checkInstance,
  reader,
  writer,
});

const networkRow = instanceSchema.properties["network"] ?? {};
const rows = fieldRows(instanceSchema);

function reader(service: Reads): Reader {
  const { profile } = service;
  const paramsAt = (place: JsonObject): Params => instanceParams(place, profile);
  return {
    ...resourceReader(instance, service, paramsAt, (ref, values) => {
      const { id: shown } = values;
      if (typeof shown === "string" && shown !== "" && shown !== ref.id)
        throw new ServiceError(
          "shape",
          "instance.describe",
          `instance.describe: the answer is about another object than ${ref.id}`,
          { mayHaveWorked: false },
        );
      return live(ref, values, service);
    }),
    listAll: (signal) => listAllInstances(service, (ref, values) => live(ref, values, service), signal),
    probe: (request, signal) => probeInstance(request, service, signal),
    backups: (ref, signal) => backupsOf(service, ref.id, signal),
    showsBackupTimes: showsSnapshotTimes(service),
    async databases(ref, request, signal) {
      const { topology } = await describedValues(service, ref, signal);
      return loginsOf(request, nodeAddresses(topology, profile.topology), service);
    },
  };
}

function writer(service: Service): Omit<Driver, keyof Reader> {
  const { profile } = service;
  const on = ({ id, place }: Ref): Params => ({ ...instanceParams(place, profile), id });
  const bodyOf = (spec: Spec, owner?: Owner): JsonObject => {
    const customTags = hasTags(profile) ? { customTags: tagsToSend(declaredTags(spec), owner) } : {};
    return { ...toWire(instanceSchema, spec, service), ...customTags };
  };
  const plain = resourceWriter(instance, service, (place) => instanceParams(place, profile), bodyOf);
  /** Sends fields that have a request of their own. Tags are set as a whole, so the existing ones are read first. */
  const metadataOf = async (ref: Ref, patch: Spec, signal: AbortSignal): Promise<JsonObject | undefined> => {
    const { deletionProtection } = patch;
    const tags = declaredTags(patch);
    if (deletionProtection === undefined && tags.length === 0) return undefined;
    const protection = deletionProtection === undefined ? {} : { deletionProtection };
    if (tags.length === 0) return protection;
    const { customTags } = await describedValues(service, ref, signal);
    return { ...protection, customTags: tagsAfter(customTags, tags) };
  };
  return {
    ...plain,
    async update(ref, patch, signal) {
      const metadata = await metadataOf(ref, patch, signal);
      if (metadata !== undefined)
        await service.write({ operation: "instance.metadata", params: on(ref), body: metadata }, signal);
      const isMetadata = Object.keys(patch).every((path) => rowAt(rows, path)["x-in"] === "metadata");
      if (metadata !== undefined && isMetadata) return;
      await plain.update(ref, patch, signal).catch((error: unknown) => {
        // The previous request has had its effect.
        throw metadata !== undefined && isServiceError(error)
          ? withEvidence(error, { mayHaveWorked: true })
          : error;
      });
    },
    backup: (ref, signal) => askForBackup(service, on(ref), signal),
    async operate(ref, verb, signal, choices = {}, applied = {}) {
      const call = { operation: `instance.${verb}`, params: on(ref) };
      if (verb === "upgrade")
        return void (await service.write(
          { ...call, body: upgradeBody(call.params, choices, profile) },
          signal,
        ));
      if (verb !== "failover") return void (await service.write(call, signal));
      const { resultParams, topology } = await describedValues(service, ref, signal);
      const askRole = roleAsker(resultParams, applied, service, signal);
      const failover = await failoverOf(ref.id, topology, choices, askRole, profile.topology);
      const { body, nodeResourceKey } = failover;
      const params = { ...call.params, nodeResourceKey: nodeResourceKey ?? call.params["resourceKey"] ?? "" };
      await service.write({ ...call, params, body }, signal);
    },
    heal: (request, paths, signal) => healInstance(request, paths, service, signal),
    usable: (shown, spec, signal) => isInstanceUsable(shown, spec, service, signal),
  };
}

function live(ref: Ref, values: Values, service: Reads): Live {
  const { profile } = service;
  const phase = phaseOf(values, service);
  const power = { ready: "running", stopped: "stopped", failed: "failed" }[String(phase.is)];
  const described = mapped(
    { ...ref.place, ...defined({ power }) },
    (value): Seen => ({ value, source: "described" }),
  );
  const owner = ownerIn(values["customTags"]);
  const { region, createdAt } = values;
  const status = shownStatus(values, service);
  const address = endpointOf(values, profile);
  const shown = Object.entries({ status, region, createdAt }).filter(([, value]) => isShown(value));
  return {
    id: ref.id,
    phase,
    spec: { ...described, ...fromWire(instanceSchema, values, service), ...seenTags(values["customTags"]) },
    outputs: {
      id: ref.id,
      ...Object.fromEntries(shown),
      ...(address === undefined ? {} : { ...address, endpoint: `${address.host}:${address.port}` }),
    },
    ...(address === undefined && phase.is === "ready" ? { missing: missingEndpoint(values, profile) } : {}),
    ...(owner === undefined ? {} : { owner, whole: ["customTags"] }),
    ...(owner === null && isBare(values["customTags"]) ? { isBare: true } : {}),
    ...timesOf(values),
  };
}
