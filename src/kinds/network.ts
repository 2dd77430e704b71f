/** @module Translates custom networks to and from the service. */

import { instanceSchema } from "../fields/instance.ts";
import { networkSchema } from "../fields/network.ts";
import type { Desired } from "../model/desired.ts";
import { isServiceError } from "../model/errors.ts";
import type { Json, JsonObject } from "../model/json.ts";
import type { Driver, Finding, Kind, Reader, RuleContext } from "../model/kind.ts";
import type { Live, Seen } from "../model/observed.ts";
import type { Reads, Service } from "../model/service.ts";
import { isWritten, type Spec } from "../model/spec.ts";
import { listedIds, notePartial, wasPartial } from "./listed-ids.ts";
import { phaseOf } from "./phase.ts";
import { findings } from "./rule-tools.ts";

/** Custom networks: adopted by id, or created where the profile has the operation. */
export const network: Kind = {
  name: "networks",
  noun: "network",
  type: "graphform_network",
  schema: networkSchema,
  operations: { create: "network.create", update: "network.update", delete: "network.delete" },
  describedBy: "network.describe",
  outputs: ["id", "name", "cidr", "region"],
  holdsData: false,
  protectedByDefault: () => false,
  place: () => ({}),
  namedBy: "name",
  classKey: (spec) => `${String(spec["cloudProvider"])}/${String(spec["region"])}`,
  serverDefaults: (spec) => (spec["cidr"] === undefined ? { cidr: "10.0.0.0/16" } : {}),
  check: checkNetwork,
  reader: (service) => reader(service),
  driver: (service) => driver(service),
};

/** Networks belong to the subscription of the tier that has them. */
const tier: { readonly tier: string } = {
  tier: instanceSchema.properties["network"]?.["x-tiers"]?.[0] ?? "enterprise",
};

const fields = ["name", "cloudProvider", "region", "cidr"] as const;

function reader(service: Reads): Reader {
  const isListed = service.offers("network.list");
  return {
    isListed,
    async list(place, signal) {
      if (!isListed) return [];
      const { values } = await service.read({ operation: "network.list", params: tier }, signal);
      notePartial(service, place, values);
      return listedIds(values);
    },
    isPartial: (place) => wasPartial(service, place),
    async get(ref, signal) {
      try {
        const { values } = await service.read(
          { operation: "network.describe", params: { ...tier, id: ref.id } },
          signal,
        );
        return live(ref.id, values, service);
      } catch (error) {
        if (isServiceError(error, "not-found")) return undefined;
        throw error;
      }
    },
  };
}

function driver(service: Service): Driver {
  return {
    ...reader(service),
    async create(spec, signal) {
      const { values } = await service.write(
        { operation: "network.create", params: tier, body: bodyOf(spec) },
        signal,
      );
      return String(values["id"]);
    },
    async update(ref, patch, signal) {
      await service.write(
        { operation: "network.update", params: { ...tier, id: ref.id }, body: bodyOf(patch) },
        signal,
      );
    },
    async delete(ref, signal) {
      await service.write({ operation: "network.delete", params: { ...tier, id: ref.id } }, signal);
    },
    async operate() {},
  };
}

function bodyOf(spec: Spec): JsonObject {
  const pairs = fields.flatMap((field): [string, Json][] => {
    const value = spec[field];
    return value === undefined ? [] : [[networkSchema.properties[field]?.["x-wire"] ?? field, value]];
  });
  return Object.fromEntries(pairs);
}

/** A record without a status is there and usable: create answers with the finished record. */
function live(id: string, values: { readonly [name: string]: Json }, service: Reads): Live {
  const shown = fields.filter((field) => typeof values[field] === "string");
  const spec = Object.fromEntries(
    shown.map((field): [string, Seen] => [field, { value: values[field] ?? null, source: "described" }]),
  );
  const phase =
    typeof values["status"] === "string" ? phaseOf(values, service) : { is: "ready" as const, detail: "" };
  const given = shown.filter((field) => network.outputs.includes(field));
  const outputs = Object.fromEntries(given.map((field) => [field, values[field] ?? null]));
  const { createdAt, modifiedAt } = values;
  return {
    id,
    phase,
    spec: { id: { value: id, source: "described" }, ...spec },
    outputs: { id, ...outputs },
    ...(typeof createdAt === "string" ? { createdAt } : {}),
    ...(typeof modifiedAt === "string" ? { modifiedAt } : {}),
  };
}

/** A network must be there already where the profile cannot create one. */
function checkNetwork(desired: Desired, context: RuleContext): readonly Finding[] {
  const { name, operations } = context.profile;
  const bound = isWritten(desired.spec, "id") || desired.importId !== undefined;
  if (bound || operations["network.create"] !== undefined) return [];
  const message = `"id" is missing: with the profile "${name}" networks cannot be created, only bound`;
  return findings(desired, context, [
    {
      code: "missing-key",
      path: "",
      message,
      hint: "add the id of an existing network, or use a profile that can create them (on the local platform: examples/profiles/local-networks.yaml)",
    },
  ]);
}
