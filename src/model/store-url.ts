/** @module Refuses the addresses of a state's store that would expose the state, or that cannot be one. */
import { isLoopback } from "./service.ts";
import type { HttpDialect } from "./store-choices.ts";
import { holdsCredentials } from "./userinfo.ts";

/** A reason to refuse a value, with its way out; it shows nothing of the value but a host. */
export interface Refusal {
  readonly code: string;
  readonly message: string;
  readonly hint: string;
}

/**
 * The reason to refuse an address: it is not an http or https URL, it has user, password or fragment, or it is http to another
 * machine, where the state goes over the connection in clear and the key of its secrets with it. `setting` is named in messages.
 */
export function urlRefusal(text: string, setting: string): Refusal | undefined {
  const url = URL.parse(text);
  if (text.includes("@") || holdsCredentials(text))
    return {
      code: "url-invalid",
      message: `the ${setting} of the state contains more than an address`,
      hint: "leave user and password out: credentials come from the environment; write an @ of a path as %40",
    };
  if (url === null || !/^https?:\/\/[^/]/i.test(text))
    return {
      code: "url-invalid",
      message: `the ${setting} of the state is not an http or https URL`,
      hint: "write it like https://git.example.com/api/v4/projects/42/terraform/state/orders",
    };
  if (url.username !== "" || url.password !== "" || url.hash !== "" || text.includes("#"))
    return {
      code: "url-invalid",
      message: `the ${setting} of the state contains more than an address`,
      hint: "leave user, password and fragment out; credentials come from the environment",
    };
  if (url.protocol === "http:" && !isLoopback(url.hostname) && !url.hostname.endsWith(".localhost"))
    return {
      code: "url-in-clear",
      message: `${url.origin} would get the state and its credentials in clear`,
      hint: `use https://${url.host}`,
    };
  return undefined;
}

/** The reason to refuse the address of an S3 server: that of `urlRefusal`, or a query, which no request would have. */
export function endpointRefusal(text: string): Refusal | undefined {
  const refusal = urlRefusal(text, "endpoint");
  if (refusal !== undefined || !text.includes("?")) return refusal;
  return {
    code: "url-invalid",
    message: "the endpoint of the state has a query, and requests to it would not",
    hint: "leave out what follows the ?",
  };
}

const gitlabPath = /\/api\/v4\/projects\/[^/]+\/terraform\/state\/[^/]+$/;
const giteaPath = /\/api\/packages\/[^/]+\/terraform\/state\/[^/]+$/;

/** The dialect that the path of an address tells. */
export function dialectOf({ pathname }: Pick<URL, "pathname">): HttpDialect {
  if (gitlabPath.test(pathname)) return "gitlab";
  return giteaPath.test(pathname) ? "gitea" : "plain";
}
