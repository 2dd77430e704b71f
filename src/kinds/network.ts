/** @module Translates custom networks to and from the service. */
import { instanceSchema } from "../fields/instance.ts";
import { networkSchema } from "../fields/network.ts";
import type { Values } from "../hosting/wire/spelling.ts";
import type { Desired } from "../model/desired.ts";
import type { Finding, Kind, RuleContext } from "../model/kind.ts";
import type { Live, Phase, Ref } from "../model/observed.ts";
import type { Reads } from "../model/service.ts";
import { isWritten } from "../model/spec.ts";
import { defineKind } from "./define-kind.ts";
import { findings, remark } from "./remarks.ts";
import { fromWire, type ParamsAt, phaseOf, resourceReader, resourceWriter, timesOf } from "./resource.ts";

/** Custom networks: adopted by id, or created if the profile has the operation. */
export const network: Kind = defineKind({
  name: "networks",
  noun: "network",
  schema: networkSchema,
  outputs: ["id", "name", "cidr", "region"],
  namedBy: "name",
  classFields: ["cloudProvider", "region"],
  check: checkNetwork,
  reader: (service) => resourceReader(network, service, params, (ref, values) => live(ref, values, service)),
  writer: (service) => resourceWriter(network, service, params),
});

/** Networks belong to the subscription of the tier that has them. */
const params: ParamsAt = () => ({
  tier: instanceSchema.properties["network"]?.["x-tiers"]?.[0] ?? "enterprise",
});

/** A record without a status is there and usable: create answers with the finished record. */
function live({ id }: Ref, values: Values, service: Reads): Live {
  const spec = fromWire(networkSchema, values, service);
  const ready: Phase = { is: "ready", detail: "" };
  const outputs = Object.entries(spec)
    .filter(([name]) => network.outputs.includes(name))
    .map(([name, { value }]) => [name, value] as const);
  return {
    id,
    phase: typeof values["status"] === "string" ? phaseOf(values, service) : ready,
    spec: { id: { value: id, source: "described" }, ...spec },
    outputs: { id, ...Object.fromEntries(outputs) },
    ...timesOf(values),
  };
}

/** A network must exist already if the profile cannot create one. */
function checkNetwork(desired: Desired, context: RuleContext): readonly Finding[] {
  const { name, operations } = context.profile;
  const bound = isWritten(desired.spec, "id") || desired.importId !== undefined;
  if (bound || operations["network.create"] !== undefined) return [];
  const message = `"id" is missing: with the profile "${name}" networks cannot be created, only bound`;
  const hint =
    "add the id of an existing network, or use a profile that can create them (on the local platform: examples/profiles/local-networks.yaml)";
  return findings(desired, context, [remark("missing-key", "", message, hint)]);
}
