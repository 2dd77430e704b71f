/** @module Tells who is at the other end of a connection, and refuses what comes unencrypted from other machines. */
import type { IncomingMessage } from "node:http";
import { BlockList, isIP } from "node:net";
import { TLSSocket } from "node:tls";
import { Problem } from "./problem.ts";

/** The connection of a request, as the server hands it to the app. */
export interface Bindings {
  readonly incoming?: IncomingMessage;
}

/**
 * The address that a request comes from. A proxy that the configuration trusts says it for others. Throws a Problem unless the way is this
 * machine's, encrypted, or one whose proxy says that it was encrypted.
 */
export function peerOf({ incoming }: Bindings, headers: Headers, trusted: readonly string[]): string {
  const socket = incoming?.socket;
  // Without a server in between, the request is of this process; a socket that is a file has no address.
  if (socket?.remoteAddress === undefined) return "local";
  const address = plain(socket.remoteAddress);
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

/** An IPv4 address in the clothes of IPv6 as itself. */
function plain(address: string): string {
  return address.replace(/^::ffff:(?=\d+\.)/i, "");
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
