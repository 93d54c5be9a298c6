import { request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import type { LookupFunction } from 'node:net';
import { systemCodeOf } from '../../contract/failures.js';
import { USER_AGENT } from '../../contract/names.js';
import { isPrivateAddress, literalAddressOf } from '../../validation/private-addresses.js';
import { createNameResolver } from './resolve-name.js';

/** From the name look-up to the status. */
const TIMEOUT_MS = 10_000;

/** Bytes of an answer that are read, so that the receiver sees no reset. */
const MAX_ANSWER_BYTES = 65_536;

/** Address of a request. */
interface Target {
  url: URL;
  allowPrivate: boolean;
}

/** Answer to a POST. `retryAfter`: the header. */
interface PostAnswer {
  status: number;
  retryAfter?: string | undefined;
}

class AddressRefusedError extends Error {}

/** Plain http leaves no private network, and private addresses need an allowance. */
const isRefused = ({ url, allowPrivate }: Target, address: string): boolean =>
  isPrivateAddress(address) ? !allowPrivate : url.protocol === 'http:';

const resolveName = createNameResolver();

/** Resolves names to allowed addresses only, so that no later answer of a name server counts. */
const lookupFor =
  (target: Target): LookupFunction =>
  (hostname, options, callback) =>
    void resolveName(hostname).then(
      (found) => {
        const allowed = found.filter(({ address }) => !isRefused(target, address));
        const [first] = allowed;
        if (!first) return callback(new AddressRefusedError(), '');
        if (options.all) return callback(null, allowed);
        return callback(null, first.address, first.family);
      },
      (error) => callback(error, ''),
    );

/** Sends one POST. Returns its answer, or one word for why there is none; follows no redirect. */
export function post(target: Target, headers: Record<string, string>, body: Buffer): Promise<PostAnswer | string> {
  const { url } = target;
  const literal = literalAddressOf(url);
  if (literal && isRefused(target, literal)) return Promise.resolve(REFUSED);
  const signal = AbortSignal.timeout(TIMEOUT_MS);
  return new Promise((resolve) => {
    const options = {
      ...{ method: 'POST', agent: false, signal, lookup: lookupFor(target) },
      headers: {
        ...headers,
        ...{ 'user-agent': USER_AGENT, 'content-type': 'application/json', 'content-length': body.length },
      },
    };
    const sent =
      url.protocol === 'http:'
        ? requestHttp(url, options)
        : // NODE_TLS_REJECT_UNAUTHORIZED=0 in the environment cannot switch it off.
          requestHttps(url, { ...options, rejectUnauthorized: true, minVersion: 'TLSv1.2' });
    // Stays on: a late error must not end the process.
    sent.on('error', (error) => {
      if (error instanceof AddressRefusedError) return resolve(REFUSED);
      resolve(signal.aborted ? 'no answer in time' : systemCodeOf(error));
    });
    sent.once('upgrade', (_, socket) => {
      socket.destroy();
      resolve({ status: 101 });
    });
    sent.once('response', (response) => {
      let bytes = 0;
      response.on('error', () => undefined);
      response.on('data', (chunk: Buffer) => {
        bytes += chunk.length;
        if (bytes > MAX_ANSWER_BYTES) sent.destroy();
      });
      resolve({ status: response.statusCode ?? 0, retryAfter: response.headers['retry-after'] });
    });
    sent.end(body);
  });
}

const REFUSED = 'its address is private or in the clear, which is not allowed';
