import { isIPv4 } from "node:net";
import { GraphformError } from "../../model/errors.ts";

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
    throw new GraphformError("url-invalid", `"${withoutUser(url)}" is no http or https URL`, {
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
  return { origin, path: withoutSlashes(pathname) };
}

/** A text that is no URL, without what may be a user and a password. */
function withoutUser(text: string): string {
  const at = text.lastIndexOf("@");
  return at < 0 ? text : `...${text.slice(at)}`;
}

function withoutSlashes(path: string): string {
  let end = path.length;
  while (path[end - 1] === "/") end -= 1;
  return path.slice(0, end);
}

function isThisMachine(hostname: string): boolean {
  return (
    hostname === "localhost" || hostname === "[::1]" || (isIPv4(hostname) && hostname.startsWith("127."))
  );
}
