/** @module Computes the configuration of an instance's database from its record. */
import { parameterOf } from "../../model/field-schema.ts";
import { defined, type Json, textIn } from "../../model/json.ts";
import type { DatabaseSpec, TlsFiles } from "../engine/index.ts";
import { paramRows } from "../model/field-rules.ts";
import { bytesOf, defaultMemory, type InstanceTypes, machineMemory } from "../model/instance-types.ts";
import { nodesOf } from "../model/plans.ts";
import { firstUserOf, generatedPassword, type InstanceRecord } from "../model/records.ts";

export interface SpecParts {
  readonly dir: string;
  readonly instanceTypes: InstanceTypes;
  /** Key of the generated passwords. */
  readonly key: Buffer;
  readonly tls: TlsFiles | undefined;
  readonly seed: string | undefined;
}

const gigabyte = 1024 ** 3;

/** The configuration of an instance's database: its parameters, the defaults of the field table, and the tier's fixed values. */
export function specOf(record: InstanceRecord, parts: SpecParts): DatabaseSpec {
  const { params, tier } = record;
  const isFree = tier === "free";
  const nodes = nodesOf(record);
  const memory = memoryOf(record, parts.instanceTypes);
  const ports = nodes.flatMap((id) => record.nodes.find((node) => node.id === id)?.port ?? []);
  return {
    dir: parts.dir,
    user: firstUserOf(record),
    password: textIn(params["graphdbPassword"]) ?? generatedPassword(record.id, parts.key),
    nodes: nodes.length > 1 ? 2 : 1,
    ids: nodes,
    parameters: isFree ? { ...parametersOf(record), QUERY_MEM_CAPACITY: 52_428_800 } : parametersOf(record),
    rdb: oneOf(params["RDBPersistenceConfig"], ["low", "medium", "high"]) ?? "low",
    users: record.users,
    ...(isFree ? {} : { aof: oneOf(params["AOFPersistenceConfig"], ["everysec", "always"]) ?? "everysec" }),
    ...defined({ maxMemoryBytes: memory, tls: parts.tls }),
    ...(ports.length === nodes.length ? { ports } : {}),
    ...defined({ seed: parts.seed }),
  };
}

function parametersOf(record: InstanceRecord): { readonly [parameter: string]: number } {
  const found: { [parameter: string]: number } = {};
  for (const [name, row] of Object.entries(paramRows)) {
    const value = record.params[name] ?? row.default;
    const parameter = parameterOf(row);
    if (parameter !== undefined && typeof value === "number")
      // An unlimited result set is 0 for the service, and -1 for the engine.
      found[parameter] = parameter === "RESULTSET_SIZE" && value === 0 ? -1 : value;
  }
  return found;
}

/** The memory limit in bytes, by the rules of the tier; undefined: no limit. */
function memoryOf(record: InstanceRecord, types: InstanceTypes): number | undefined {
  const { params, tier } = record;
  if (tier === "free") return 100 * 1024 ** 2;
  if (tier === "startup") return params["memoryRequestsAndLimits"] === "2200M" ? 2e9 : 1e9;
  const machine = machineMemory(record, textIn(params["nodeInstanceType"]), types) ?? defaultMemory(tier);
  if (tier === "pro") return machine === undefined ? undefined : shareOf(machine);
  const asked = bytesOf(textIn(params["maxMemory"]) ?? "");
  return asked ?? Math.min(6 * gigabyte, machine ?? Number.POSITIVE_INFINITY);
}

/** The database's share of a machine's memory, for tiers without a memory field. */
function shareOf(machine: number): number {
  if (machine < 4 * gigabyte) return 100 * 1024 ** 2;
  return machine === 4 * gigabyte ? 2 * gigabyte : Math.floor(machine * 0.75);
}

function oneOf<T extends string>(value: Json | undefined, allowed: readonly T[]): T | undefined {
  return allowed.find((option) => option === value);
}
