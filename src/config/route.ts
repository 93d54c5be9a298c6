import { X509Certificate } from 'node:crypto';
import { createSecureContext } from 'node:tls';
import type { Problems } from './env.js';
import { readBy } from './formats.js';
import { Secret } from './secret.js';
import { readSettingsFile, UNREADABLE } from './secret-files.js';

/** Route to an account's service; {} = direct, no client certificate, built-in authorities. */
export interface RouteConfig {
  /** PEM text of the only trusted authorities. */
  caCertificates?: string;
  /** PEM texts. `chain` starts with the worker's own certificate. */
  clientCertificate?: { chain: string; key: Secret };
  /** Proxy that tunnels. `credentials`: `user:password`. */
  proxy?: { host: string; port: number; credentials?: Secret };
}

/** Paths of an account's TLS files. */
type TlsFiles = Partial<Record<'clientCertFile' | 'clientKeyFile' | 'caFile', string>>;

/** Reads an account's certificates and key, at start only. */
export function readTls(files: TlsFiles, baseUrl: string, account: string, problems: Problems): RouteConfig {
  const refuse = (field: keyof TlsFiles, reason: string): undefined =>
    void problems.add('PAYMENT_ACCOUNTS_FILE', `${account}.${field} ${reason}`);
  const read = (field: keyof TlsFiles): string | undefined => {
    const path = files[field];
    if (!path) return undefined;
    if (baseUrl.startsWith('http:'))
      refuse(field, 'needs an https URL of the service: without TLS it would do nothing');
    const place = { variable: 'PAYMENT_ACCOUNTS_FILE', what: `${account}.${field} ` };
    return readSettingsFile(path, problems, place, holdsKey) ?? refuse(field, UNREADABLE);
  };
  const [ca, chain, key] = [read('caFile'), read('clientCertFile'), read('clientKeyFile')];
  if (ca !== undefined && !isCertificates(ca)) refuse('caFile', 'must hold certificates in PEM, and no key');
  if (!files.clientCertFile !== !files.clientKeyFile)
    refuse(files.clientKeyFile ? 'clientKeyFile' : 'clientCertFile', 'goes together with its other half: give both');
  else if (chain !== undefined && key !== undefined && !isPair(chain, key))
    refuse('clientCertFile', 'must hold certificates in PEM, and clientKeyFile their key, without a passphrase');
  return {
    ...(ca && { caCertificates: ca }),
    ...(chain && key && { clientCertificate: { chain, key: new Secret(key) } }),
  };
}

const holdsKey = (text: string): boolean => text.includes('PRIVATE KEY');

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g;

/** Returns true if each block of a PEM text is a certificate: TLS would ignore others silently. */
function isCertificates(text: string): boolean {
  const blocks = text.match(CERTIFICATE) ?? [];
  if (blocks.length === 0 || blocks.length !== text.split('-----BEGIN').length - 1) return false;
  try {
    return blocks.every((block) => new X509Certificate(block).raw.length > 0);
  } catch {
    return false;
  }
}

function isPair(cert: string, key: string): boolean {
  try {
    createSecureContext({ cert, key });
    // A missing key would be ignored silently.
    return key !== '' && isCertificates(cert);
  } catch {
    return false;
  }
}

const PROXY_FORM = 'must be http://host:port or http://user:password@host:port, with user and password percent-encoded';

/** Returns undefined for an invalid URL, also if a part is empty. */
function parseProxy(text: string): RouteConfig['proxy'] {
  const [, both, port] = /^http:\/\/(?:([^\s/?#@]*)@)?[^\s/?#@]+:([1-9]\d{0,4})\/?$/.exec(text) ?? [];
  if (!port || !URL.canParse(text)) return undefined;
  const { hostname, username, password } = new URL(text);
  const proxy = { host: hostname.replace(/^\[|\]$/g, ''), port: Number(port) };
  if (both === undefined) return proxy;
  try {
    const [user, secret] = [decodeURIComponent(username), decodeURIComponent(password)];
    const isUsable = user !== '' && secret !== '' && !user.includes(':') && !/\p{C}/u.test(user + secret);
    return isUsable ? { ...proxy, credentials: new Secret(`${user}:${secret}`) } : undefined;
  } catch {
    return undefined;
  }
}

/** Schema of the proxy for all accounts. */
export const proxy = readBy(parseProxy, PROXY_FORM);
