import { createHmac, timingSafeEqual } from 'node:crypto';

/*
 * `<base>/callbacks/<account>/o.<base64url(order_id)>.<mac>` for orders, `…/a.<ref>.<mac>` for
 * permanent addresses. Workers make it, the receiver verifies it; both hold CALLBACK_TOKEN_KEY.
 */

export type CallbackTarget =
  | { kind: 'order'; account: string; orderId: string }
  | { kind: 'address'; account: string; ref: string };

export const MAX_CALLBACK_PATH_LENGTH = 512;
const PATH = /^\/callbacks\/([a-z0-9-]{1,32})\/([oa])\.([A-Za-z0-9_-]{1,200})\.([A-Za-z0-9_-]{43})$/;

/** base64url HMAC-SHA256 over kind, account and id. NUL separates them: none of the formats admits one. */
function mac(key: string, kind: 'o' | 'a', account: string, id: string): Buffer {
  return createHmac('sha256', key).update(`${kind}\0${account}\0${id}`).digest();
}

/** The callback URL of an order or address. `key` is the first key of CALLBACK_TOKEN_KEY. */
export function callbackUrl(baseUrl: string, key: string, target: CallbackTarget): string {
  const [kind, id, shown] =
    target.kind === 'order'
      ? (['o', target.orderId, Buffer.from(target.orderId).toString('base64url')] as const)
      : (['a', target.ref, target.ref] as const);
  const token = mac(key, kind, target.account, id).toString('base64url');
  return `${baseUrl.replace(/\/+$/, '')}/callbacks/${target.account}/${kind}.${shown}.${token}`;
}

/** Splits a URL at its last `/callbacks/`, its query left out: patterns that begin at the tail match in linear time. */
function split(url: string): { base: string; tail: string } {
  const [path = ''] = url.split('?', 1);
  const at = path.lastIndexOf('/callbacks/');
  return at < 0 ? { base: path, tail: '' } : { base: path.slice(0, at), tail: path.slice(at) };
}

/** Reference in the callback URL of an address, and what its token says about who made the URL. */
export interface AddressRef {
  ref: string;
  /** 'unreadable': the service masks it, or no key is here to check it with. */
  token: 'genuine' | 'forged' | 'unreadable';
}

/** Reads the reference by the tail of the URL, since a base URL may move; undefined without one. */
export function addressRefOf(url: string | null, account: string, keys: readonly string[]): AddressRef | undefined {
  const [path = ''] = (url ?? '').split('?', 1);
  const [callbacks, of, name = ''] = path.replace(/\/$/, '').split('/').slice(-3);
  const [, ref, mac] = /^a\.([A-Za-z0-9_-]{1,64})\.([\w*-]{1,200})$/.exec(name) ?? [];
  if (callbacks !== 'callbacks' || of !== account || !ref || !mac) return undefined;
  // A reference that is not seen would have a second address made.
  if (mac.includes('*') || keys.length === 0) return { ref, token: 'unreadable' };
  return { ref, token: verifyCallbackPath(`/callbacks/${of}/${name}`, keys) ? 'genuine' : 'forged' };
}

/** The URL as it may be shown: whoever holds the token can post callbacks. */
export function withoutToken(url: string | null): string | null {
  const { base, tail } = split(url ?? '');
  return tail ? `${base}${tail.slice(0, tail.lastIndexOf('.') + 1)}****` : url;
}

/** The reference in a URL as `withoutToken` shows it; '' for URLs of anything but addresses of ours. */
export const shownRefOf = (url: string | null): string =>
  /^\/callbacks\/[^/]*\/a\.([A-Za-z0-9_-]+)\.[^/]+$/.exec(split(url ?? '').tail)?.[1] ?? '';

/** Reads a callback path. undefined for everything that none of the keys signed; compares in constant time. */
export function verifyCallbackPath(path: string, keys: readonly string[]): CallbackTarget | undefined {
  if (path.length > MAX_CALLBACK_PATH_LENGTH) return undefined;
  const [, account, kind, shown, token] = PATH.exec(path) ?? [];
  if (!account || !shown || !token || (kind !== 'o' && kind !== 'a')) return undefined;
  const id = kind === 'o' ? Buffer.from(shown, 'base64url').toString() : shown;
  const given = Buffer.from(token, 'base64url');
  const genuine = keys.filter((key) => timingSafeEqual(mac(key, kind, account, id), given)).length > 0;
  if (!genuine) return undefined;
  return kind === 'o' ? { kind: 'order', account, orderId: id } : { kind: 'address', account, ref: id };
}
