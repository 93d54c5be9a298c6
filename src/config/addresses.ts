import { BlockList, isIP } from 'node:net';

/** True for a host, in brackets or not, that is this machine. */
export const isLoopback = (hostname: string): boolean => /^(localhost|\[?::1\]?|127(\.\d{1,3}){3})$/.test(hostname);

/** Without anything that a server or a proxy on the way may read in another way than we do. */
const PLAIN_PATH = /^(\/[A-Za-z0-9._~-]+)*\/?$/;

/** Why a URL may not be used, or undefined. Plain http would show payments to the network, so it is for loopback only. */
export function urlProblem(text: string): string | undefined {
  // The parser drops blanks and line breaks silently, so it cannot be the one to find them.
  if (/[^\x21-\x7e]/.test(text) || !URL.canParse(text)) return 'must be a URL';
  const url = new URL(text);
  if (url.username || url.password) return 'must not carry credentials';
  // Looked for in the text: an empty query or fragment is not to be seen in the parsed URL, but would swallow the path.
  if (/[?#]/.test(text)) return 'must not carry a query or fragment';
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return 'must be an https URL';
  if (url.protocol === 'http:' && !isLoopback(url.hostname)) {
    return 'must be https (plain http is allowed to a loopback address only)';
  }
  if ((url.href === text || url.href === `${text}/`) && PLAIN_PATH.test(url.pathname)) return undefined;
  return 'must be written as it is used: a lower-case host, no usual port, and no %, \\, empty, . or .. parts in its path';
}

/** `url` without the slashes at its end. */
export const withoutTrailingSlash = (url: string): string => url.replace(/\/+$/, '');

/** Shortest prefixes of networks: 10.0.0.0/8 and fc00::/7 are the largest that belong to one owner. */
const SHORTEST_PREFIX = { 4: 8, 6: 7 } as const;

/** Adds an address or network such as `10.0.0.0/8` to a list; false when it is none, or so large that it protects nothing. */
function addNetwork(list: BlockList, text: string): boolean {
  const [, address = '', prefix] = /^([0-9A-Fa-f.:]+)(?:\/(\d{1,3}))?$/.exec(text) ?? [];
  const version = isIP(address);
  if (version !== 4 && version !== 6) return false;
  const [family, bits] = version === 4 ? (['ipv4', 32] as const) : (['ipv6', 128] as const);
  const length = Number(prefix ?? bits);
  if (length < SHORTEST_PREFIX[version] || length > bits) return false;
  list.addSubnet(address, length, family);
  return true;
}

/** Returns a comma list of addresses and networks; undefined if an entry is none. */
export function addressList(text: string): BlockList | undefined {
  const list = new BlockList();
  return text.split(',').every((entry) => addNetwork(list, entry.trim())) ? list : undefined;
}
