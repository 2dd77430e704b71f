import { GraphformError } from "../model/errors.ts";
import type { Endpoint } from "../model/profile.ts";

/**
 * The path and query of a call: `{names}` filled in and URL-encoded. A query whose parameter has no value is left out.
 * Throws `path-parameter` where a path parameter is missing, or could lead elsewhere ("." and "..").
 */
export function fillPath(endpoint: Endpoint, params: { readonly [name: string]: string | undefined }, operation: string): string {
  const path = endpoint.path.replace(/\{([A-Za-z]+)\}/g, (_, name: string) => {
    const value = params[name];
    if (value === undefined || value === "" || value === "." || value === "..") throw unusable(operation, name, value);
    return encodeURIComponent(value);
  });
  const query = Object.entries(endpoint.query).flatMap(([name, template]) => {
    const value = filled(template, params);
    return value === undefined ? [] : [`${encodeURIComponent(name)}=${encodeURIComponent(value)}`];
  });
  return query.length === 0 ? path : `${path}${path.includes("?") ? "&" : "?"}${query.join("&")}`;
}

function filled(template: string, params: { readonly [name: string]: string | undefined }): string | undefined {
  let missing = false;
  const text = template.replace(/\{([A-Za-z]+)\}/g, (_, name: string) => {
    const value = params[name];
    if (value === undefined || value === "") missing = true;
    return value ?? "";
  });
  return missing ? undefined : text;
}

function unusable(operation: string, name: string, value: string | undefined): GraphformError {
  const what = value === undefined || value === "" ? "is missing" : `cannot be "${value}"`;
  return new GraphformError("path-parameter", `${operation}: the path parameter ${name} ${what}`, {
    hint: "check the id, and the profile's keys and paths",
  });
}
