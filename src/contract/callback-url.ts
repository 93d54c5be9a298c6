import { createHmac, timingSafeEqual } from 'node:crypto';

/*
 * Callback URLs: `<base>/callbacks/<account>/o.<base64url(order_id)>.<mac>` for orders,
 * `…/a.<ref>.<mac>` for permanent addresses. Workers make them and the receiver verifies them; both
 * hold CALLBACK_TOKEN_KEY.
 */

export type CallbackTarget =
  | { kind: 'order'; account: string; orderId: string }
  | { kind: 'address'; account: string; ref: string };

export const MAX_CALLBACK_PATH_LENGTH = 512;
const PATH = /^\/callbacks\/([a-z0-9-]{1,32})\/([oa])\.([A-Za-z0-9_-]{1,200})\.([A-Za-z0-9_-]{43})$/;

/**
 * Returns the base64url HMAC-SHA256 of kind, account and id, separated by NUL, which none contains.
 */
function mac(key: string, kind: 'o' | 'a', account: string, id: string): Buffer {
  return createHmac('sha256', key).update(`${kind}\0${account}\0${id}`).digest();
}

/** Returns the callback URL of an order or address. `key`: the first key of CALLBACK_TOKEN_KEY. */
export function callbackUrl(baseUrl: string, key: string, target: CallbackTarget): string {
  const [kind, id, shown] =
    target.kind === 'order'
      ? (['o', target.orderId, Buffer.from(target.orderId).toString('base64url')] as const)
      : (['a', target.ref, target.ref] as const);
  const token = mac(key, kind, target.account, id).toString('base64url');
  return `${baseUrl.replace(/\/+$/, '')}/callbacks/${target.account}/${kind}.${shown}.${token}`;
}

/**
 * Splits a URL without its query at the last `/callbacks/`. Patterns from the end take linear time.
 */
function split(url: string): { base: string; tail: string } {
  const [path = ''] = url.split('?', 1);
  const at = path.lastIndexOf('/callbacks/');
  return at < 0 ? { base: path, tail: '' } : { base: path.slice(0, at), tail: path.slice(at) };
}

/** Reference in the callback URL of an address, and whether its token is genuine. */
export interface AddressRef {
  ref: string;
  /** 'unreadable': the service masks it, or this process has no key. */
  token: 'genuine' | 'forged' | 'unreadable';
}

/** Reads the reference from the URL's end, because a base URL may change; undefined without one. */
export function addressRefOf(url: string | null, account: string, keys: readonly string[]): AddressRef | undefined {
  const [path = ''] = (url ?? '').split('?', 1);
  const [callbacks, of, name = ''] = path.replace(/\/$/, '').split('/').slice(-3);
  const [, ref, mac] = /^a\.([A-Za-z0-9_-]{1,64})\.([\w*-]{1,200})$/.exec(name) ?? [];
  if (callbacks !== 'callbacks' || of !== account || !ref || !mac) return undefined;
  // An overlooked reference would cause a second address.
  if (mac.includes('*') || keys.length === 0) return { ref, token: 'unreadable' };
  return { ref, token: verifyCallbackPath(`/callbacks/${of}/${name}`, keys) ? 'genuine' : 'forged' };
}

/** Returns the URL without its token, whose holder could post callbacks. */
export function withoutToken(url: string | null): string | null {
  const { base, tail } = split(url ?? '');
  return tail ? `${base}${tail.slice(0, tail.lastIndexOf('.') + 1)}****` : url;
}

/** Returns the reference in a URL from `withoutToken`; '' for other URLs. */
export const shownRefOf = (url: string | null): string =>
  /^\/callbacks\/[^/]*\/a\.([A-Za-z0-9_-]+)\.[^/]+$/.exec(split(url ?? '').tail)?.[1] ?? '';

/** Returns the target of a callback path in constant time; undefined if no key signed it. */
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
