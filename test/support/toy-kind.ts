import { defineKind } from "../../src/kinds/define-kind.ts";
import type { KindSchema } from "../../src/model/field-schema.ts";
import type { Driver, Kind } from "../../src/model/kind.ts";
import type { Profile } from "../../src/model/service.ts";
import type { Spec } from "../../src/model/spec.ts";
import { testProfile } from "../manifest/test-profile.ts";

/** One field of every sort that planning knows. */
export const toySchema: KindSchema = {
  type: "object",
  additionalProperties: false,
  properties: {
    colour: { type: "string", default: "plain" },
    size: { type: "integer", "x-create-only": true, default: 1 },
    token: { type: "string", "x-secret": true, "x-disruption": "restart" },
    memory: { type: "string", "x-compare": "size", "x-disruption": "restart" },
    home: { type: "string", "x-reference": { section: "toys", output: "id" } },
    power: {
      type: "string",
      enum: ["running", "stopped"],
      default: "running",
      "x-disruption": "downtime",
      "x-operations": { "stopped>running": "start", "running>stopped": "stop", "failed>running": "restart" },
    },
  },
};

/** Toys that can be asked: `rows` is set while they run, `size` is read when they start, the others are updated. */
export const askedSchema: KindSchema = {
  ...toySchema,
  properties: {
    ...toySchema.properties,
    most: { type: "integer", "x-create-only": true, "x-probe": { parameter: "MOST", settable: true } },
    usual: {
      type: "integer",
      "x-create-only": true,
      "x-probe": { parameter: "USUAL", settable: true, atMost: "most" },
    },
    rows: { type: "integer", "x-create-only": true, "x-probe": { parameter: "ROWS", settable: true } },
    size: { type: "integer", "x-create-only": true, "x-probe": { parameter: "SIZE" } },
    memory: { type: "string", "x-compare": "size", "x-disruption": "restart", "x-probe": { info: "memory" } },
    secure: { type: "boolean", "x-create-only": true, "x-probe": { connection: "tls" } },
    token: {
      type: "string",
      "x-secret": true,
      "x-disruption": "restart",
      "x-probe": { connection: "login" },
    },
  },
};

/** Toys, kept by `driver`; without one they can be planned for, and nothing else. */
export function toyKind(driver: Driver = nobody, over: Partial<Kind> = {}): Kind {
  const declared = defineKind({
    name: "toys",
    noun: "toy",
    schema: toySchema,
    operations: { backup: ["toy.backup", "toy.backups"] },
    outputs: ["id", "endpoint"],
    holdsData: true,
    classFields: [],
    serverDefaults: (spec) => (spec["size"] === undefined ? { size: 1 } : {}),
    reader: () => driver,
    writer: () => driver,
  });
  const classKey = (spec: Spec): string => `size ${String(spec["size"] ?? 1)}`;
  return { ...declared, classKey, driver: () => driver, ...over };
}

const nobody: Driver = {
  list: () => Promise.reject(new Error("no toys are kept here")),
  get: () => Promise.reject(new Error("no toys are kept here")),
  create: () => Promise.reject(new Error("no toys are kept here")),
  update: () => Promise.reject(new Error("no toys are kept here")),
  delete: () => Promise.reject(new Error("no toys are kept here")),
  operate: () => Promise.reject(new Error("no toys are kept here")),
};

const endpoint = { method: "POST", host: "platform", path: "/", query: {}, body: {}, answer: {} } as const;
const minute = 60_000;

/** What the service of toys promises: times in ms. */
export const toyProfile: Profile = {
  ...testProfile,
  name: "toys",
  operations: {
    "toy.create": endpoint,
    "toy.update": endpoint,
    "toy.delete": endpoint,
    "toy.backup": endpoint,
    "toy.backups": endpoint,
  },
  updateNeeds: "ready",
  timing: {
    clock: 1000,
    settle: 5000,
    listLag: 30_000,
    endpoint: 5000,
    poll: { first: 200, longest: 5000 },
    expect: { create: 30_000, update: 15_000, delete: 10_000, start: 10_000, stop: 5000, restart: 15_000 },
    timeout: { create: 40 * minute, update: 40 * minute, delete: 40 * minute },
  },
};
