import { createPrivateKey, X509Certificate } from 'node:crypto';
import { createSecureContext } from 'node:tls';
import type { Problems } from './env.js';
import { readBy } from './formats.js';
import { Secret } from './secret.js';
import { readSettingsFile } from './secret-files.js';

/** How the payment service of an account is reached; {} = directly, without a certificate, trusting the built-in authorities. */
export interface RouteConfig {
  /** PEM text of the only authorities to trust. */
  caCertificates?: string;
  /** PEM texts; `chain` begins with the worker's own certificate. */
  clientCertificate?: { chain: string; key: Secret };
  proxy?: ProxyConfig;
}

/** A proxy that tunnels; `credentials`: `user:password`. */
export interface ProxyConfig {
  host: string;
  port: number;
  credentials?: Secret;
}

/** Paths of the files of an account's TLS. */
type TlsFiles = Partial<Record<'clientCertFile' | 'clientKeyFile' | 'caFile', string>>;

/** Reads an account's certificates and key. They are read at start only. */
export function readTls(files: TlsFiles, baseUrl: string, account: string, problems: Problems): RouteConfig {
  const place = (field: keyof TlsFiles) => ({ variable: 'PAYMENT_ACCOUNTS_FILE', what: `${account}.${field} ` });
  const refuse = (field: keyof TlsFiles, reason: string): undefined => {
    const { variable, what } = place(field);
    problems.add(variable, what + reason);
  };
  const read = (field: keyof TlsFiles, isSecret?: (text: string) => boolean): string | undefined => {
    const path = files[field];
    if (!path) return undefined;
    if (baseUrl.startsWith('http:'))
      refuse(field, 'needs an https URL of the service: without TLS it would do nothing');
    return readSettingsFile(path, problems, place(field), isSecret) ?? refuse(field, 'cannot be read');
  };
  const certificates = (field: keyof TlsFiles): string | undefined => {
    const text = read(field, holdsKey);
    return text === undefined || isCertificates(text)
      ? text
      : refuse(field, 'must hold certificates in PEM, and no key');
  };
  const [caCertificates, chain, key] = [certificates('caFile'), certificates('clientCertFile'), read('clientKeyFile')];
  if (!files.clientCertFile !== !files.clientKeyFile) {
    refuse(files.clientKeyFile ? 'clientKeyFile' : 'clientCertFile', 'goes together with its other half: give both');
  }
  const keyProblem = key === undefined ? undefined : problemOfKey(key);
  if (keyProblem) refuse('clientKeyFile', keyProblem);
  const pairProblem = keyProblem || !chain || !key ? undefined : problemOfPair(chain, key);
  if (pairProblem) refuse('clientCertFile', pairProblem);
  return {
    ...(caCertificates && { caCertificates }),
    ...(chain && key && { clientCertificate: { chain, key: new Secret(key) } }),
  };
}

const holdsKey = (text: string): boolean => text.includes('PRIVATE KEY');

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g;

/** Returns true where every block of a PEM text is a certificate, and there is one: what is passed over in silence is not trusted. */
function isCertificates(text: string): boolean {
  const blocks = text.match(CERTIFICATE) ?? [];
  if (blocks.length === 0 || blocks.length !== text.split('-----BEGIN').length - 1) return false;
  try {
    return blocks.every((block) => new X509Certificate(block).raw.length > 0);
  } catch {
    return false;
  }
}

/** Shorter RSA keys can be computed from the certificate. */
const MIN_RSA_BITS = 2048;

function problemOfKey(text: string): string | undefined {
  try {
    const { modulusLength = MIN_RSA_BITS } = createPrivateKey(text).asymmetricKeyDetails ?? {};
    return modulusLength < MIN_RSA_BITS ? `must have ${MIN_RSA_BITS} bits at least` : undefined;
  } catch {
    return 'must hold a private key in PEM, without a passphrase';
  }
}

function problemOfPair(chain: string, key: string): string | undefined {
  const { validTo } = new X509Certificate(chain);
  if (Date.parse(validTo) < Date.now()) return `has expired (${validTo})`;
  try {
    createSecureContext({ cert: chain, key });
    return undefined;
  } catch {
    return 'is not of that key, or is too weak for TLS';
  }
}

const PROXY_FORM = 'must be http://host:port or http://user:password@host:port, with user and password percent-encoded';

/** Returns undefined for what is no such URL: a part that is empty got lost. */
function parseProxy(text: string): ProxyConfig | undefined {
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

/** Schema of the proxy that all accounts are asked through. */
export const proxy = readBy(parseProxy, PROXY_FORM);
