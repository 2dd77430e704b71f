/** @module Makes the URL of a request: a checked address of the service, the endpoint of the operation, its path and query. */
import { GraphformError } from "../../model/errors.ts";
import { own } from "../../model/json.ts";
import { perText } from "../../model/once.ts";
import { type Endpoint, isLoopback, type Profile } from "../../model/service.ts";
import { hasUserinfo, redactedAddress } from "../../model/userinfo.ts";

/** A host of the service: scheme, host and port, and the prefix of all its paths. */
export interface Base {
  readonly origin: string;
  readonly path: string;
}

/** Throws `url-in-clear` for http to another machine, and `url-invalid` for anything but a plain URL: credentials in it, a query or a fragment. */
export function baseOf(url: string): Base {
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  if (parsed === undefined || !["http:", "https:"].includes(parsed.protocol)) {
    throw new GraphformError("url-invalid", `"${redactedAddress(url)}" is not an http or https URL`, {
      hint: "write it like https://platform.example.com",
    });
  }
  const { origin, protocol, hostname, pathname } = parsed;
  if (hasUserinfo(url) || parsed.username !== "" || parsed.search !== "" || parsed.hash !== "") {
    // A slash in a login would end it early: the rest would be taken for the host.
    const shown = url.includes("@") ? redactedAddress(url) : origin;
    throw new GraphformError("url-invalid", `the URL of ${shown} contains more than an address`, {
      hint: "leave user, password, query and fragment out; credentials come from the environment",
    });
  }
  if (protocol === "http:" && !isLoopback(hostname)) {
    throw new GraphformError("url-in-clear", `${origin} would get the credentials in clear`, {
      hint: `use https://${parsed.host}`,
    });
  }
  return { origin, path: withoutSlashes(pathname) };
}

function withoutSlashes(path: string): string {
  let end = path.length;
  while (path[end - 1] === "/") end -= 1;
  return path.slice(0, end);
}

type Params = { readonly [name: string]: string | undefined };

/**
 * Path and query of a call: `{names}` filled in and URL-encoded. A query whose parameter has no value is left out.
 * Throws `path-parameter` if a path parameter is missing, or would change the path ("." and "..").
 */
export function fillPath(operation: string, endpoint: Endpoint, params: Params): string {
  const path = filled(endpoint.path, (name) => {
    const value = own(params, name);
    if (value === undefined || value === "" || value === "." || value === "..")
      throw unusable(operation, name, value);
    return encoded(value);
  });
  const query = Object.entries(endpoint.query).flatMap(([name, template]) => {
    let isWhole = true;
    const value = filled(template, (parameter) => {
      const given = own(params, parameter) ?? "";
      isWhole &&= given !== "";
      return given;
    });
    return isWhole ? [`${encoded(name)}=${encoded(value)}`] : [];
  });
  return query.length === 0 ? path : `${path}?${query.join("&")}`;
}

/** The text of a template, and at each second place the name of a parameter. */
const partsOf = perText((template): readonly string[] => template.split(/\{(\w+)\}/));

function filled(template: string, fill: (name: string) => string): string {
  return partsOf(template)
    .map((part, at) => (at % 2 === 0 ? part : fill(part)))
    .join("");
}

/** Like encodeURIComponent, which throws for half a surrogate pair. */
function encoded(text: string): string {
  return /^[\w.-]*$/.test(text) ? text : encodeURIComponent(text.toWellFormed());
}

function unusable(operation: string, name: string, value: string | undefined): GraphformError {
  const what = value === undefined || value === "" ? "is missing" : `cannot be "${value}"`;
  return new GraphformError("path-parameter", `${operation}: the path parameter ${name} ${what}`, {
    hint: "check the id, and the keys and paths of the profile",
  });
}

/** The endpoint of an operation. Throws `not-offered` if the profile has none. */
export function endpointOf(operation: string, profile: Profile): Endpoint {
  const endpoint = own(profile.operations, operation);
  if (endpoint !== undefined) return endpoint;
  throw new GraphformError("not-offered", `profile ${profile.name} has no operation ${operation}`, {
    hint: "use a profile that has it: graphform profile list",
  });
}
