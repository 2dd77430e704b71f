/** @module Matches addresses of repositories with the patterns that the configuration allows. */
import { lookup } from "node:dns/promises";
import { isIP } from "node:net";
import { GraphformError } from "../../index.ts";
import { isPrivate } from "../networks.ts";

/** The parts of an address, or of a pattern: of a host with `*` any label, of a path with `*` any rest. */
export interface Parts {
  readonly scheme: "https" | "http" | "file";
  /** Lower-case name, with the port if it is not the usual one; empty for file. */
  readonly host: string;
  readonly path: string;
}

/** Characters that every program reads alike: no escapes, queries, backslashes, blanks or logins. */
const form = /^(https?|file):\/\/([A-Za-z0-9.-]*(?::[0-9]{1,5})?)(\/[A-Za-z0-9._~+@/-]*)$/;

/** The parts of an address, or the reason why it is refused. */
function partsOf(text: string): Parts | string {
  if (text.length > 500) return "is too long";
  const [, scheme, host = "", path = ""] = form.exec(text) ?? [];
  if (scheme !== "https" && scheme !== "http" && scheme !== "file")
    return /^[a-z][a-z0-9+.-]*:\/\/[^/]*@/i.test(text)
      ? "holds a login: name it in git.credentials of the configuration"
      : "is not https://host/path, with letters, digits and . _ ~ + @ / -";
  if (path.split("/").some((segment) => segment === ".." || segment === "." || segment.startsWith("-")))
    return "has a step of its path that is . or .., or begins with -";
  if (path.includes("//")) return "has an empty step in its path";
  if ((scheme === "file") !== (host === "")) return scheme === "file" ? "has a host" : "has no host";
  if (scheme === "file") return { scheme, host, path };
  // Numbers in other notations become addresses here.
  const url = URL.canParse(`${scheme}://${host}/`) ? new URL(`${scheme}://${host}/`) : undefined;
  return url === undefined ? "has no valid host" : { scheme, host: url.host, path };
}

/** Reads a pattern: `https://git.example.com/team/*`, `https://*.example.com/*`, `file:///srv/git/*`; the reason why it is none. */
export function gitPattern(text: string): Parts | string {
  const [, before = "", path = ""] = /^([a-z]+:\/\/[^/]*)(\/.*)$/.exec(text) ?? [];
  const anyHost = /^([a-z]+:\/\/)\*\./.test(before) || before.endsWith("://*");
  const anyPath = path.endsWith("/*");
  const plain = `${before.replace("://*.", "://any.").replace(/:\/\/\*$/, "://any")}${anyPath ? path.slice(0, -1) : path}`;
  if (plain.includes("*"))
    return "has a * that is neither the first label of the host nor the last step of the path";
  const parts = partsOf(plain);
  if (typeof parts === "string") return parts;
  const host = anyHost ? `*${parts.host.slice("any".length)}` : parts.host;
  return { ...parts, host, path: anyPath ? `${parts.path}*` : parts.path };
}

function fits({ scheme, host, path }: Parts, pattern: Parts): boolean {
  const isHost =
    pattern.host === "*" ||
    pattern.host === host ||
    (pattern.host.startsWith("*.") && host.endsWith(pattern.host.slice(1)));
  const isPath = pattern.path.endsWith("/*")
    ? path.startsWith(pattern.path.slice(0, -1)) && path.length >= pattern.path.length
    : path.replace(/\/$/, "") === pattern.path.replace(/\/$/, "");
  return pattern.scheme === scheme && isHost && isPath;
}

export interface AllowedUrl {
  readonly url: string;
  readonly scheme: Parts["scheme"];
  /** The addresses that its name has now, if a pattern with any host allows it: none of them is private. */
  readonly pinned?: { readonly host: string; readonly port: number; readonly addresses: readonly string[] };
}

/** Returns the address if the configuration allows it; private ones only for a host that a pattern writes out. Throws `source-refused`. */
export async function allowedUrl(
  text: string,
  allow: readonly string[],
  resolve = async (host: string): Promise<readonly string[]> =>
    (await lookup(host, { all: true }).catch(() => [])).map(({ address }) => address),
): Promise<AllowedUrl> {
  const parts = partsOf(text);
  if (typeof parts === "string") throw refused(`the address of the repository ${parts}`);
  const { scheme, host, path } = parts;
  const patterns = allow.map(gitPattern).filter((pattern) => typeof pattern !== "string");
  const fitting = patterns.filter((pattern) => fits(parts, pattern));
  const shown = `${scheme}://${host}${scheme === "file" ? path : "/..."}`;
  if (fitting.length === 0) throw refused(`git.allow of the configuration does not list ${shown}`);
  const url = `${scheme}://${host}${path}`;
  if (scheme === "file" || fitting.some((pattern) => pattern.host === host)) return { url, scheme };
  const { hostname, port } = new URL(url);
  const addresses = isIP(hostname) === 0 ? await resolve(hostname) : [hostname];
  if (addresses.length === 0) throw refused(`the host ${hostname} has no address`);
  if (addresses.some(isPrivate))
    throw refused(`the host ${hostname} is in a private network, and git.allow does not write it out`);
  const usual = scheme === "https" ? 443 : 80;
  return { url, scheme, pinned: { host: hostname, port: Number(port) || usual, addresses } };
}

export function fitsPattern(url: string, pattern: string): boolean {
  const [parts, read] = [partsOf(url), gitPattern(pattern)];
  return typeof parts !== "string" && typeof read !== "string" && fits(parts, read);
}

export function refused(message: string): GraphformError {
  const hint =
    "an operator of the controller decides what is allowed: git.allow and tenants in its configuration";
  return new GraphformError("source-refused", message, { hint });
}
