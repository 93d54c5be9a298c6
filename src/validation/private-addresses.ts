import { BlockList, isIP } from 'node:net';

const NETWORKS: readonly (readonly [network: string, bits: number, family?: 'ipv6'])[] = [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['224.0.0.0', 3],
  // Loopback, mapped and translated IPv4, 6to4, unique local, link-local, site-local, multicast.
  ['::', 96, 'ipv6'],
  ['64:ff9b::', 32, 'ipv6'],
  ['2002::', 16, 'ipv6'],
  ['fc00::', 7, 'ipv6'],
  ['fe80::', 9, 'ipv6'],
  ['ff00::', 8, 'ipv6'],
];

const blocked = new BlockList();
for (const [network, bits, family] of NETWORKS) blocked.addSubnet(network, bits, family ?? 'ipv4');

/** Returns true for an IP address that is not of the public internet. */
export const isPrivateAddress = (address: string): boolean =>
  blocked.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4');

/** Returns the IP address that a URL names; undefined for a host name. */
export function literalAddressOf({ hostname }: URL): string | undefined {
  const bare = hostname.replace(/^\[|\]$/g, '');
  return isIP(bare) === 0 ? undefined : bare;
}
