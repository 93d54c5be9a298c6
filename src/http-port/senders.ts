import { type BlockList, isIP } from 'node:net';

/** Who may send callbacks, and who stands in between. */
export interface SenderRules {
  /** Proxies whose X-Forwarded-For is believed; undefined = none. */
  trustedProxies?: BlockList;
  /** Addresses that callbacks may come from; undefined = all. */
  allowedAddresses?: BlockList;
}

/** True for an address on the list, in whichever of its forms; false without a list. */
export function isListed(list: BlockList | undefined, address: string): boolean {
  const plain = withoutMapping(address);
  const version = isIP(plain);
  return list !== undefined && version !== 0 && list.check(plain, version === 6 ? 'ipv6' : 'ipv4');
}

/** A socket that listens on IPv6 as well shows IPv4 addresses as ::ffff:192.0.2.1. */
const withoutMapping = (address: string): string => /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1] ?? address;

/** The address of a hop of X-Forwarded-For, which some proxies give with a port; undefined for anything else. */
function addressOf(hop: string): string | undefined {
  const address = /^\[(.+)\](?::\d+)?$/.exec(hop)?.[1] ?? /^(\d+\.\d+\.\d+\.\d+):\d+$/.exec(hop)?.[1] ?? hop;
  return isIP(address) === 0 ? undefined : withoutMapping(address);
}

/**
 * The address of the sender: the peer's, or behind a trusted proxy the rightmost hop of X-Forwarded-For that is no trusted proxy.
 * What stands left of it, anybody may have written.
 */
export function senderOf(peer: string, forwardedFor: string | undefined, proxies: BlockList | undefined): string {
  let sender = withoutMapping(peer);
  const hops = forwardedFor?.split(',') ?? [];
  while (hops.length > 0 && isListed(proxies, sender)) {
    const hop = addressOf(hops.pop()?.trim() ?? '');
    if (hop === undefined) return sender;
    sender = hop;
  }
  return sender;
}
