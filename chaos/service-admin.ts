import type { SandboxOrder, SettingsChange } from '../sandbox/index.js';

/** The admin port of the sandbox process. */
export class ServiceAdmin {
  readonly #applied: SettingsChange[] = [];

  constructor(private readonly adminUrl: string) {}

  /** Changes settings, now and after every restart. */
  async set(change: SettingsChange): Promise<void> {
    this.#applied.push(change);
    await this.#put(change);
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
