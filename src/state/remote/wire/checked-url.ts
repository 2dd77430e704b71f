/** @module Parses the address of a state store and refuses those that would expose the state. */
import { isIPv4 } from "node:net";
import { GraphformError } from "../../../model/errors.ts";

/**
 * Throws `url-invalid` for anything but an http or https URL without user and password, and `url-in-clear` for http to
 * another machine: the state goes over that connection, and the key of its secrets with it. `setting` is named in messages.
 */
export function checkedUrl(text: string, setting: string): URL {
  const url = URL.parse(text);
  if (url === null || !["http:", "https:"].includes(url.protocol)) {
    throw new GraphformError("url-invalid", `the ${setting} of the state is not an http or https URL`, {
      hint: "write it like https://git.example.com/api/v4/projects/42/terraform/state/orders",
    });
  }
  if (url.username !== "" || url.password !== "" || url.hash !== "") {
    throw new GraphformError("url-invalid", `the ${setting} of the state contains more than an address`, {
      hint: "leave user, password and fragment out; credentials come from the environment",
    });
  }
  if (url.protocol === "http:" && !isThisMachine(url.hostname)) {
    throw new GraphformError(
      "url-in-clear",
      `${url.origin} would get the state and its credentials in clear`,
      {
        hint: `use https://${url.host}`,
      },
    );
  }
  return url;
}

function isThisMachine(hostname: string): boolean {
  const isLoopback = isIPv4(hostname) && hostname.startsWith("127.");
  return isLoopback || hostname === "[::1]" || hostname === "localhost" || hostname.endsWith(".localhost");
}
