import { BlockList, isIP } from 'node:net';

/** Special-purpose IPv4 networks (IANA), and multicast. BlockList checks mapped IPv6, too. */
const SPECIAL = [
  ...['0.0.0.0/8', '10.0.0.0/8', '100.64.0.0/10', '127.0.0.0/8', '169.254.0.0/16', '172.16.0.0/12', '192.0.0.0/24'],
  ...['192.0.2.0/24', '192.88.99.0/24', '192.168.0.0/16', '198.18.0.0/15', '198.51.100.0/24', '203.0.113.0/24'],
  '224.0.0.0/3',
];
/** Special-purpose networks (IANA) of global unicast: Teredo, documentation, 6to4. */
const SPECIAL_IPV6 = ['2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20'];

function listOf(networks: readonly string[], family: 'ipv4' | 'ipv6'): BlockList {
  const list = new BlockList();
  for (const network of networks) {
    const [address = '', bits] = network.split('/');
    list.addSubnet(address, Number(bits), family);
  }
  return list;
}

const special = listOf(SPECIAL, 'ipv4');
const specialIpv6 = listOf(SPECIAL_IPV6, 'ipv6');
const globalUnicast = listOf(['2000::/3'], 'ipv6');
const mapped = listOf(['::ffff:0:0/96'], 'ipv6');

/** Returns true for an IP address that is not of the public internet. */
export function isPrivateAddress(address: string): boolean {
  if (isIP(address) !== 6) return special.check(address, 'ipv4');
  if (mapped.check(address, 'ipv6')) return special.check(address, 'ipv6');
  return !globalUnicast.check(address, 'ipv6') || specialIpv6.check(address, 'ipv6');
}

/** Returns the IP address that a URL names; undefined for a host name. */
export function literalAddressOf({ hostname }: URL): string | undefined {
  const bare = hostname.replace(/^\[|\]$/g, '');
  return isIP(bare) === 0 ? undefined : bare;
}
