import { CANCELLED, type LookupAddress, lookup as lookUpBySystem, TIMEOUT } from 'node:dns';
import { Resolver } from 'node:dns/promises';
import { systemCodeOf } from '../../contract/failures.js';

/** Maximum time of one look-up. */
const LIMIT_MS = 2_000;

/** A name that cannot be resolved is not asked again for this time. */
const FAILED_FOR_MS = 30_000;

/** Error of a name that cannot be resolved now. */
class NameError extends Error {
  constructor(readonly code: string) {
    super(code);
  }
}

/**
 * Resolves names without the threads of Node.js that look up the payment service, so that silent
 * name servers of receivers take none of them. `nameServers` replaces those of the system.
 */
export function createNameResolver(nameServers?: readonly string[]) {
  const failed = new Map<string, { code: string; untilMs: number }>();
  let isSystemBusy = false;

  /** Asks for names of this machine or its search domains, one at a time: each takes a thread. */
  async function ofSystem(hostname: string, code: string): Promise<LookupAddress[]> {
    if (isSystemBusy) throw new NameError(code);
    isSystemBusy = true;
    return new Promise((resolve, reject) => {
      const late = setTimeout(() => reject(new NameError(TIMEOUT)), LIMIT_MS);
      lookUpBySystem(hostname, { all: true }, (error, found) => {
        isSystemBusy = false;
        clearTimeout(late);
        if (error) reject(new NameError(systemCodeOf(error)));
        else resolve(found);
      });
    });
  }

  async function ask(hostname: string): Promise<LookupAddress[]> {
    const resolver = new Resolver({ timeout: LIMIT_MS, tries: 1 });
    if (nameServers) resolver.setServers(nameServers);
    const late = setTimeout(() => resolver.cancel(), LIMIT_MS);
    const families = [4, 6] as const;
    const answers = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)]);
    clearTimeout(late);
    const found = answers.flatMap((answer, n) =>
      answer.status === 'fulfilled' ? answer.value.map((address) => ({ address, family: families[n] ?? 4 })) : [],
    );
    if (found.length > 0) return found;
    const codes = answers.flatMap((answer) => (answer.status === 'rejected' ? systemCodeOf(answer.reason) : []));
    if (codes.some((code) => code === TIMEOUT || code === CANCELLED)) throw new NameError(TIMEOUT);
    return ofSystem(hostname, codes[0] ?? '');
  }

  /** Returns the addresses of a name. Throws an error with a `code`, within 4 s. */
  return async function resolveName(hostname: string): Promise<LookupAddress[]> {
    const before = failed.get(hostname);
    if (before && performance.now() < before.untilMs) throw new NameError(before.code);
    failed.delete(hostname);
    try {
      return await ask(hostname);
    } catch (error) {
      failed.set(hostname, { code: systemCodeOf(error), untilMs: performance.now() + FAILED_FOR_MS });
      throw error;
    }
  };
}
