/** @module Lists the parameters of a component as the service describes them. */
import type { FieldSchema } from "../../../model/field-schema.ts";
import type { JsonObject } from "../../../model/json.ts";
import type { Dialect, Located } from "../../dialect/dialect.ts";
import { isOffered, paramRows } from "../../model/field-rules.ts";
import type { InstanceTypes } from "../../model/instance-types.ts";

/** The parts of the platform that a parameter list is made from. */
export interface SchemaParts {
  readonly dialect: Dialect;
  readonly instanceTypes: InstanceTypes;
}

/**
 * Parameters of create and update: types, options, and whether they can be changed. The API has no keys for bounds, so the
 * description contains them.
 */
export function parameterSchema(parts: SchemaParts, { plan, component, isAccount }: Located): JsonObject {
  const rows = Object.entries(paramRows).filter(
    ([name, row]) =>
      !isAccount && !parts.dialect.params.absent.includes(name) && isOffered(row, plan.tier, component.id),
  );
  const inputs = (isShown: (row: FieldSchema) => boolean): readonly JsonObject[] =>
    rows
      .filter(([, row]) => isShown(row))
      .flatMap(([name, row]) => parametersOf(parts, plan.tier, name, row));
  return {
    apis: [
      { verb: "CREATE", inputParameters: inputs(() => true), outputParameters: [] },
      {
        verb: "UPDATE",
        inputParameters: inputs((row) => row["x-create-only"] !== true),
        outputParameters: [],
      },
    ],
  };
}

/** The parameters of a field: one, or one per cloud provider for instance types, since each provider has its own list. */
function parametersOf(
  parts: SchemaParts,
  tier: string,
  name: string,
  row: FieldSchema,
): readonly JsonObject[] {
  const { fields, required, defaults } = parts.dialect.params;
  const value = defaults[name] ?? row.default;
  const parameter: JsonObject = {
    key: fields[name] ?? name,
    type: typeOf(row),
    required: required[name]?.includes(tier) ?? false,
    modifiable: row["x-create-only"] !== true,
    ...(value === undefined ? {} : { defaultValue: String(value) }),
    ...(row.enum === undefined ? {} : { options: row.enum.map(String) }),
    ...(row.pattern === undefined ? {} : { regex: row.pattern }),
    isList: false,
    custom: true,
    displayName: name,
    description: `${row.description ?? ""}${boundsOf(row)}`,
  };
  if (name !== "nodeInstanceType" || tier !== "pro") return [parameter];
  return Object.entries(parts.instanceTypes).map(([provider, types]) => ({
    ...parameter,
    options: Object.keys(types),
    scope: { cloudProviders: [provider] },
  }));
}

function typeOf(row: FieldSchema): string {
  if (row["x-secret"] === true) return "Password";
  if (row.type === "boolean") return "Boolean";
  return row.type === "number" || row.type === "integer" ? "Float64" : "String";
}

function boundsOf({ minimum, maximum }: FieldSchema): string {
  return minimum === undefined || maximum === undefined ? "" : ` (${minimum} to ${maximum})`;
}
