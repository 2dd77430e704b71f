/** @module Completes the declaration of a kind with what most kinds have in common. */
import { fieldRows, isOfferedBy, type KindSchema } from "../model/field-schema.ts";
import type { Json } from "../model/json.ts";
import type { Kind, KindDeclaration } from "../model/kind.ts";
import type { Spec } from "../model/spec.ts";

export function defineKind(declared: KindDeclaration): Kind {
  const { schema, noun, prefix = noun, classFields, writer, ...own } = declared;
  const placeFields = Object.entries(schema.properties)
    .filter(([name, row]) => row["x-place"] === true && schema.required?.includes(name) === true)
    .map(([name]) => name);
  return {
    describedBy: `${prefix}.describe`,
    unknownAfter: {},
    ofRunning: [],
    holdsData: false,
    protectedByDefault: () => false,
    idAt: (_place, name) => name,
    serverDefaults: (spec) => tableDefaults(schema, spec),
    implicitChildren: () => [],
    marksOwner: () => false,
    ownerMark: () => ({}),
    check: () => [],
    ...own,
    noun,
    schema,
    type: `graphform_${noun.replaceAll(" ", "_")}`,
    operations: {
      list: `${prefix}.list`,
      create: `${prefix}.create`,
      update: `${prefix}.update`,
      delete: `${prefix}.delete`,
      ...declared.operations,
    },
    place: (spec) => Object.fromEntries(placeFields.map((name) => [name, spec[name] ?? ""])),
    classKey: (spec) => classFields.map((name) => String(spec[name])).join("/"),
    driver: (service) => ({
      ...declared.reader(service),
      update: async () => undefined,
      operate: async () => undefined,
      ...writer(service),
    }),
  };
}

/** The defaults of the field table for fields that the spec leaves out and that its tier and component offer. */
export function tableDefaults(schema: KindSchema, spec: Spec): Spec {
  const entries = [...fieldRows(schema)].flatMap(([path, row]): [string, Json][] => {
    const isLeft = row.default !== undefined && spec[path] === undefined && row["x-operations"] === undefined;
    return isLeft && isOfferedBy(row, spec) ? [[path, row.default]] : [];
  });
  return Object.fromEntries(entries);
}
