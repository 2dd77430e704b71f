import { createHmac } from "node:crypto";
import type { Json } from "../model/json.ts";
import { findPlan } from "./contract.ts";
import type { DatabaseSpec, TlsFiles } from "./engine/index.ts";
import { paramRows } from "./field-rules.ts";
import type { InstanceTypes } from "./instance-types.ts";
import { bytesOf } from "./memory-size.ts";
import type { InstanceRecord } from "./records.ts";

/** What a database's configuration depends on besides its record. */
export interface SpecParts {
  readonly dir: string;
  readonly instanceTypes: InstanceTypes;
  /** Key from which the password of an instance is made that was created without one. */
  readonly key: Buffer;
  readonly tls: TlsFiles | undefined;
  readonly seed: string | undefined;
}

const gigabyte = 1024 ** 3;

/** How the database of an instance is to run: its parameters, the defaults of the field table, the tier's fixed values. */
export function specOf(record: InstanceRecord, parts: SpecParts): DatabaseSpec {
  const { params, tier } = record;
  const isFree = tier === "free";
  const nodes = nodeIds(record);
  const memory = memoryOf(record, parts.instanceTypes);
  const ports = nodes.flatMap((id) => record.nodes.find((node) => node.id === id)?.port ?? []);
  return {
    dir: parts.dir,
    user: textOf(params["graphdbUser"]) ?? "default",
    password:
      textOf(params["graphdbPassword"]) ??
      createHmac("sha256", parts.key).update(record.id).digest("base64url"),
    nodes: nodes.length > 1 ? 2 : 1,
    parameters: isFree ? { ...parametersOf(record), QUERY_MEM_CAPACITY: 52_428_800 } : parametersOf(record),
    rdb: oneOf(params["RDBPersistenceConfig"], ["low", "medium", "high"]) ?? "low",
    users: record.users.map(({ username, passwordHash, acl }) => ({ username, passwordHash, rules: acl })),
    ...(isFree ? {} : { aof: oneOf(params["AOFPersistenceConfig"], ["everysec", "always"]) ?? "everysec" }),
    ...(memory === undefined ? {} : { maxMemoryBytes: memory }),
    ...(parts.tls === undefined ? {} : { tls: parts.tls }),
    ...(ports.length === nodes.length ? { ports } : {}),
    ...(parts.seed === undefined ? {} : { seed: parts.seed }),
  };
}

/** Node ids of an instance's component, in the order of the engine's own. */
export function nodeIds(record: InstanceRecord): readonly string[] {
  return findPlan(record.tier)?.components.find((each) => each.key === record.component)?.nodes ?? [];
}

/** The database parameters of specification 2.2, each with its value or its default. */
function parametersOf(record: InstanceRecord): { readonly [parameter: string]: number } {
  const found: { [parameter: string]: number } = {};
  for (const [name, row] of Object.entries(paramRows)) {
    const value = record.params[name] ?? row.default;
    if (row["x-parameter"] !== undefined && typeof value === "number") found[row["x-parameter"]] = value;
  }
  return found;
}

/** The memory ceiling in bytes, by the rules of the tier; undefined: no ceiling. */
function memoryOf(record: InstanceRecord, types: InstanceTypes): number | undefined {
  const { params, tier } = record;
  if (tier === "free") return 100 * 1024 ** 2;
  if (tier === "startup") return params["memoryRequestsAndLimits"] === "2200M" ? 2e9 : 1e9;
  const physical = types[record.cloudProvider]?.[textOf(params["nodeInstanceType"]) ?? ""];
  if (tier === "pro") return physical === undefined ? undefined : shareOf(physical);
  const asked = bytesOf(textOf(params["maxMemory"]) ?? "");
  return asked ?? Math.min(6 * gigabyte, physical ?? Number.POSITIVE_INFINITY);
}

/** The database's share of a machine's memory where the tier has no field for it. */
function shareOf(physical: number): number {
  if (physical < 4 * gigabyte) return 100 * 1024 ** 2;
  return physical === 4 * gigabyte ? 2 * gigabyte : Math.floor(physical * 0.75);
}

function textOf(value: Json | undefined): string | undefined {
  return typeof value === "string" ? value : undefined;
}

function oneOf<T extends string>(value: Json | undefined, allowed: readonly T[]): T | undefined {
  return allowed.find((each) => each === value);
}
