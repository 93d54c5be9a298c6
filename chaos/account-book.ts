import { rename, writeFile } from 'node:fs/promises';
import { DEFAULT_ACCOUNT } from '../src/contract/names.js';

/** An account at the service: what a worker is configured with to reach it. */
export interface AccountAccess {
  baseUrl: string;
  apiKey: string;
  apiSecret: string;
}

/** The accounts file of all workers, in which somebody swaps the key for another account's: a worker uses it from its next start on. */
export class AccountBook {
  #current = 0;
  swaps = 0;

  /** `accesses`: the first is the right one. */
  constructor(
    readonly file: string,
    private readonly accesses: readonly AccountAccess[],
  ) {}

  /** The account that a worker uses which starts now. */
  get current(): AccountAccess {
    return this.accesses[this.#current] as AccountAccess;
  }

  /** Writes the right account. */
  setRight(): Promise<void> {
    return this.#write(0);
  }

  /** Writes the next account. */
  swap(): Promise<void> {
    this.swaps += 1;
    return this.#write((this.#current + 1) % this.accesses.length);
  }

  async #write(index: number): Promise<void> {
    this.#current = index;
    const content = { [DEFAULT_ACCOUNT]: { ...this.accesses[index], signer: 'hmac-sha256' } };
    // A worker that starts just now must read the one or the other as a whole.
    await writeFile(`${this.file}.new`, JSON.stringify(content), { mode: 0o600 });
    await rename(`${this.file}.new`, this.file);
  }
}
