/** @module Puts violations of the profile schema into words. */
import type { ProfileFault } from "./expand-profile.ts";
import type { ProfileText } from "./profile-text.ts";

/** One violation of the profile's schema, as Ajv reports it. */
export interface SchemaError {
  readonly instancePath: string;
  readonly keyword: string;
  readonly params: { readonly [name: string]: unknown };
}

/** The compiled schema: true where the value is a profile. */
export interface ProfileValidator {
  (value: unknown): value is ProfileText;
  errors?: readonly SchemaError[] | null;
}

/** Explains the deepest violation: in an `anyOf` it belongs to the branch that fits best. */
export function faultOf(errors: readonly SchemaError[]): ProfileFault {
  const deepest = [...errors]
    .filter(({ keyword }) => keyword !== "anyOf" && keyword !== "propertyNames")
    .sort((a, b) => depth(b) - depth(a));
  const [worst] = deepest;
  if (worst === undefined) return { path: [], message: "it is not a profile" };
  const path = worst.instancePath.split("/").slice(1).map(stepOf);
  const { params } = worst;
  switch (worst.keyword) {
    case "required":
      return { path, message: `${named(path)} lacks "${String(params["missingProperty"])}"` };
    case "additionalProperties":
      return {
        path: [...path, String(params["additionalProperty"])],
        message: `there is no key "${String(params["additionalProperty"])}" here`,
      };
    case "dependencies":
      return {
        path,
        message: `${named(path)} has "${String(params["property"])}", which needs "${String(params["missingProperty"])}"`,
      };
    case "enum":
      return { path, message: `${named(path)} must be or be named one of ${list(params["allowedValues"])}` };
    case "type":
      return { path, message: `${named(path)} must be of type ${String(params["type"])}` };
    case "pattern":
      return { path, message: `${named(path)} must match ${String(params["pattern"])}` };
    default:
      return { path, message: `${named(path)} breaks the rule "${worst.keyword}" of the profile's schema` };
  }
}

function depth(error: SchemaError): number {
  return error.instancePath.split("/").length + (error.keyword === "type" ? 0 : 0.5);
}

function named(path: readonly string[]): string {
  return path.length === 0 ? "the profile" : path.join(".");
}

function stepOf(step: string): string {
  return step.replaceAll("~1", "/").replaceAll("~0", "~");
}

function list(values: unknown): string {
  return Array.isArray(values) ? values.map(String).join(", ") : "what the schema lists";
}
