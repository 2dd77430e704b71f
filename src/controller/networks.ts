/** @module Compares addresses of the Internet with networks: single addresses, or with the bits of their network, as in 10.0.0.0/8. */
import { BlockList, isIP } from "node:net";

/** True if an address is in one of the networks. */
export function isInNetworks(address: string, networks: readonly string[]): boolean {
  const family = (text: string): "ipv4" | "ipv6" => (isIP(text) === 6 ? "ipv6" : "ipv4");
  const list = new BlockList();
  for (const one of networks) {
    const [network = "", bits = family(network) === "ipv6" ? "128" : "32"] = one.split("/");
    list.addSubnet(network, Number(bits), family(network));
  }
  return isIP(address) !== 0 && list.check(address, family(address));
}

export function isNetwork(text: string): boolean {
  const [address = "", bits = "0", more] = text.split("/");
  const longest = { 0: -1, 4: 32, 6: 128 }[isIP(address)] ?? -1;
  return more === undefined && /^\d{1,3}$/.test(bits) && Number(bits) <= longest;
}

/** An IPv4 address in the clothes of IPv6 as itself. */
export function plainAddress(address: string): string {
  const rest = address.replace(/^::ffff:/i, "");
  return isIP(rest) === 4 ? rest : address;
}

const privateNetworks = [
  ...["0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12"],
  ...["192.0.0.0/24", "192.168.0.0/16", "198.18.0.0/15", "224.0.0.0/3"],
  // These lead to others: IPv4 in IPv6, tunnels.
  ...["2001::/23", "2002::/16", "2001:db8::/32"],
];

/** True for an address that is not in the public Internet, IPv4 in IPv6 included. */
export function isPrivate(address: string): boolean {
  const plain = plainAddress(address);
  const isPublicKind = isIP(plain) === 4 || isInNetworks(plain, ["2000::/3"]);
  return !isPublicKind || isInNetworks(plain, privateNetworks);
}
