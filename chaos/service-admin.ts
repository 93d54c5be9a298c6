import type { SandboxOrder, SettingsChange } from '../sandbox/index.js';
import { decimal, toAmount } from '../src/contract/money.js';

/** The admin port of one sandbox process. */
export class ServiceAdmin {
  readonly #applied: SettingsChange[] = [];

  constructor(private readonly adminUrl: string) {}

  /** Changes settings, now and after every restart. */
  async set(change: SettingsChange): Promise<void> {
    this.#applied.push(change);
    // If the process is down, its restart applies the change.
    await this.#put(change).catch((error: unknown) => {
      if (!(error instanceof TypeError)) throw error;
    });
  }

  /** Settings do not outlive the process: puts them back in force. */
  async setAgain(): Promise<void> {
    for (const change of this.#applied) await this.#put(change);
  }

  /** Every order the service has, with its balance changes and what is really left of it. */
  orders(): Promise<SandboxOrder[]> {
    return this.#get<SandboxOrder[]>('/orders');
  }

  /** Balances by currency. */
  ledger(): Promise<Record<string, string>> {
    return this.#get<Record<string, string>>('/ledger');
  }

  async #get<T>(path: string): Promise<T> {
    const response = await fetch(`${this.adminUrl}${path}`);
    return (await response.json()) as T;
  }

  async #put(change: SettingsChange): Promise<void> {
    const response = await fetch(`${this.adminUrl}/settings`, {
      method: 'PUT',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(change),
    });
    if (!response.ok) throw new Error(`the sandbox refused its settings: ${await response.text()}`);
  }
}

/** Both accounts of the service as one: what was done at either counts. */
export class ServiceAdmins {
  constructor(readonly accounts: readonly ServiceAdmin[]) {}

  /** Changes the settings of every account, now and after every restart. */
  async set(change: SettingsChange): Promise<void> {
    await Promise.all(this.accounts.map((account) => account.set(change)));
  }

  /** Every order of every account. */
  async orders(): Promise<SandboxOrder[]> {
    return (await Promise.all(this.accounts.map((account) => account.orders()))).flat();
  }

  /** Balances by currency, summed over the accounts. */
  async ledger(): Promise<Record<string, string>> {
    return sumOfLedgers(await Promise.all(this.accounts.map((account) => account.ledger())));
  }
}

/** Balances by currency of all accounts together. */
export function sumOfLedgers(ledgers: readonly Record<string, string>[]): Record<string, string> {
  const total: Record<string, string> = {};
  for (const [currency, amount] of ledgers.flatMap((ledger) => Object.entries(ledger)))
    total[currency] = toAmount(decimal(total[currency] ?? '0').plus(decimal(amount)));
  return total;
}
