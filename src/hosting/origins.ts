import { isIPv4 } from "node:net";
import { GraphformError } from "../model/errors.ts";

/** Where a host of the service is: scheme, host and port, and a path that all its paths stand under. */
export interface Base {
  readonly origin: string;
  readonly path: string;
}

/**
 * Reads a service's URL. Throws where credentials would travel in clear: anything but https, save on this machine; and
 * where the URL itself carries credentials.
 */
export function baseOf(url: string): Base {
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  if (parsed === undefined || !["http:", "https:"].includes(parsed.protocol)) {
    throw new GraphformError("url-invalid", `"${url.replace(/\/\/[^/]*@/, "//")}" is no http or https URL`, {
      hint: "write it like https://platform.example.com",
    });
  }
  const { origin, protocol, hostname, pathname } = parsed;
  if (parsed.username !== "" || parsed.password !== "" || parsed.search !== "" || parsed.hash !== "") {
    throw new GraphformError("url-invalid", `the URL of ${origin} holds more than an address`, {
      hint: "leave user, password, query and fragment out; credentials come from the environment",
    });
  }
  if (protocol === "http:" && !isThisMachine(hostname)) {
    throw new GraphformError("url-in-clear", `${origin} would get the credentials in clear`, {
      hint: `use https://${parsed.host}`,
    });
  }
  return { origin, path: pathname.replace(/\/+$/, "") };
}

function isThisMachine(hostname: string): boolean {
  return (
    hostname === "localhost" || hostname === "[::1]" || (isIPv4(hostname) && hostname.startsWith("127."))
  );
}
