/** @module Decides who may send a request: from where, how often, and with which token. */
import type { IncomingMessage } from "node:http";
import { BlockList, isIP } from "node:net";
import { TLSSocket } from "node:tls";
import type { Database } from "../database/connect.ts";
import type { Endpoint } from "./endpoint.ts";
import { Problem } from "./problem.ts";
import { allows, type Caller, checkToken, hashOf, tokenIn } from "./tokens.ts";

/** The connection of a request, as the server hands it to the app. */
export interface Bindings {
  readonly incoming?: IncomingMessage;
}

/** A caller of an endpoint that asks for no token. */
const anybody: Caller = { id: "", actor: "a webhook", role: "viewer", tenant: "" };

/** Returns the function that lets a request in to an endpoint: it resolves with the caller, or throws a Problem. */
export function guard(
  database: Database,
  rate: Rate,
): (row: Endpoint, headers: Headers, peer: string) => Promise<Caller> {
  const take = rateLimit(rate);
  const limit = (key: string): void => {
    const seconds = take(key);
    if (seconds > 0) throw new Problem("too-many-requests", undefined, { "retry-after": String(seconds) });
  };
  return async ({ role, scope, basic = false }, headers, peer) => {
    if (role === "public") {
      limit(`open ${peer}`);
      return anybody;
    }
    const token = tokenIn(headers.get("authorization") ?? "", basic);
    const challenge = { "www-authenticate": basic ? 'Basic realm="graphform"' : "Bearer" };
    if (token === undefined) throw new Problem("no-token", undefined, challenge);
    limit(`token ${hashOf(token)}`);
    const caller = await checkToken(database, token);
    if (caller === undefined) {
      limit(`address ${peer}`);
      throw new Problem("invalid-token", undefined, challenge);
    }
    if (!allows(caller.role, role)) throw new Problem("forbidden", `it takes the role ${role}`);
    if (scope === "all" && caller.tenant !== null)
      throw new Problem("forbidden", "it takes a token that is not of one tenant");
    return caller;
  };
}

/** Requests a second, and as many as may come at once. */
export interface Rate {
  readonly perSecond: number;
  readonly burst: number;
}

/** Buckets that are remembered; beyond it the oldest is forgotten. */
const most = 10_000;

/** Returns a function that takes one from the bucket of a key, which fills steadily: 0, or the seconds after which there is one again. */
export function rateLimit(
  { perSecond, burst }: Rate,
  now: () => number = () => performance.now(),
): (key: string) => number {
  const buckets = new Map<string, { left: number; at: number }>();
  return (key) => {
    const at = now();
    const known = buckets.get(key) ?? { left: burst, at };
    const left = Math.min(burst, known.left + ((at - known.at) / 1000) * perSecond);
    buckets.delete(key);
    buckets.set(key, { left: left < 1 ? left : left - 1, at });
    const [oldest] = buckets.keys();
    if (buckets.size > most && oldest !== undefined) buckets.delete(oldest);
    return left < 1 ? Math.ceil((1 - left) / perSecond) : 0;
  };
}

/**
 * The address that a request comes from. A proxy that the configuration trusts says it for others. Throws a Problem unless the way is this
 * machine's, encrypted, or one whose proxy says that it was encrypted.
 */
export function peerOf({ incoming }: Bindings, headers: Headers, trusted: readonly string[]): string {
  const socket = incoming?.socket;
  // Without a server in between, the request is of this process; a socket that is a file has no address.
  if (socket?.remoteAddress === undefined) return "local";
  // An IPv4 address in the clothes of IPv6 counts as itself.
  const address = socket.remoteAddress.replace(/^::ffff:(?=\d+\.)/i, "");
  const [way, client] = [headers.get("x-forwarded-proto"), headers.get("x-forwarded-for")];
  // Requests of this machine may come past its own proxy.
  if (isOneOf(address, trusted) && (way ?? client) !== null) {
    if (way !== "https") throw new Problem("not-encrypted");
    return client?.split(",").at(-1)?.trim() || address;
  }
  const isSafe = socket instanceof TLSSocket || isOneOf(address, ["127.0.0.0/8", "::1"]);
  if (!isSafe) throw new Problem("not-encrypted");
  return address;
}

/** True if an address is in one of these ranges: addresses, or with the bits of their network, as in 10.0.0.0/8. */
function isOneOf(address: string, ranges: readonly string[]): boolean {
  const family = (text: string): "ipv4" | "ipv6" => (isIP(text) === 6 ? "ipv6" : "ipv4");
  const list = new BlockList();
  for (const range of ranges) {
    const [network = "", bits = family(network) === "ipv6" ? "128" : "32"] = range.split("/");
    list.addSubnet(network, Number(bits), family(network));
  }
  return isIP(address) !== 0 && list.check(address, family(address));
}
