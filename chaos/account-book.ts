import { rename, writeFile } from 'node:fs/promises';
import { pinOfConfig } from '../src/config/accounts.js';
import { Secret } from '../src/config.js';
import { DEFAULT_ACCOUNT } from '../src/contract/names.js';
import { fingerprintOf } from '../src/contract/order/sent-to.js';

/** An account at the service: what a worker is configured with to reach it. */
export interface AccountAccess {
  baseUrl: string;
  apiKey: string;
  apiSecret: string;
}

/** Returns the fingerprint of a pair, as `doctor` shows it. */
export const fingerprint = ({ apiKey, apiSecret }: Omit<AccountAccess, 'baseUrl'>): string =>
  fingerprintOf(
    pinOfConfig({
      ...{ name: 'any', baseUrl: 'http://any.example', signer: 'hmac-sha256' },
      ...{ apiKey: new Secret(apiKey), apiSecret: new Secret(apiSecret) },
    }).id,
  );

/** The accounts file of all workers, in which somebody swaps the key for another account's: a worker uses it from its next start on. */
export class AccountBook {
  #current = 0;
  swaps = 0;
  readonly #accesses: AccountAccess[];
  /** Fingerprints of the right account's earlier keys. */
  readonly #predecessors: string[] = [];

  /** `accesses`: the first is the right one. */
  constructor(
    readonly file: string,
    accesses: readonly AccountAccess[],
  ) {
    this.#accesses = [...accesses];
  }

  /** The account that a worker uses which starts now. */
  get current(): AccountAccess {
    return this.#accesses[this.#current] as AccountAccess;
  }

  get isRight(): boolean {
    return this.#current === 0;
  }

  /** Writes the right account. */
  setRight(): Promise<void> {
    return this.#write(0);
  }

  /** Writes the next account. */
  swap(): Promise<void> {
    this.swaps += 1;
    return this.#write((this.#current + 1) % this.#accesses.length);
  }

  /** Replaces the key of the right account, as docs/running.md describes a rotation. */
  rotate(apiKey: string): Promise<void> {
    const right = this.#accesses[0] as AccountAccess;
    this.#predecessors.push(fingerprint(right));
    this.#accesses[0] = { ...right, apiKey };
    return this.#write(0);
  }

  async #write(index: number): Promise<void> {
    this.#current = index;
    const rotated = index === 0 && this.#predecessors.length > 0 && { apiKeyPredecessors: this.#predecessors };
    const content = { [DEFAULT_ACCOUNT]: { ...this.#accesses[index], ...rotated, signer: 'hmac-sha256' } };
    // A worker that starts just now must read the one or the other as a whole.
    await writeFile(`${this.file}.new`, JSON.stringify(content), { mode: 0o600 });
    await rename(`${this.file}.new`, this.file);
  }
}
