/** @module Parses the URLs of a service and refuses those that would expose credentials. */
import { GraphformError } from "../../model/errors.ts";
import { isLoopback } from "../../model/service.ts";
import { hasUserinfo, shownAddress } from "../../model/userinfo.ts";

/** A host of the service: scheme, host and port, and the prefix of all its paths. */
export interface Base {
  readonly origin: string;
  readonly path: string;
}

/**
 * Throws `url-in-clear` for http to another machine, and `url-invalid` for anything but a plain URL: credentials in it, a
 * query or a fragment.
 */
export function baseOf(url: string): Base {
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  if (parsed === undefined || !["http:", "https:"].includes(parsed.protocol)) {
    throw new GraphformError("url-invalid", `"${shownAddress(url)}" is not an http or https URL`, {
      hint: "write it like https://platform.example.com",
    });
  }
  const { origin, protocol, hostname, pathname } = parsed;
  if (hasUserinfo(url) || parsed.username !== "" || parsed.search !== "" || parsed.hash !== "") {
    // Of a login with a slash in it, a part would be taken for the host.
    const shown = url.includes("@") ? shownAddress(url) : origin;
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
