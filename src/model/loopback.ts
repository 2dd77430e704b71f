/** @module Tells the hosts of URLs that never leave this machine. */

/** True for `localhost`, `[::1]` and 127.0.0.0/8. The host of a parsed URL: numbers in any notation are four decimal ones there. */
export function isLoopback(hostname: string): boolean {
  return hostname === "localhost" || hostname === "[::1]" || /^127(?:\.\d{1,3}){3}$/.test(hostname);
}
