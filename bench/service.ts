import { ServiceAdmin } from '../chaos/service-admin.js';
import type { RequestLogEntry, SettingsChange } from '../sandbox/index.js';
import { type BenchProcess, startNode } from './processes.js';

/** Keys of every service of a bench. */
export const SERVICE_KEYS = { apiKey: 'bench-key', apiSecret: 'bench-secret-of-32-characters-00' };
/** Long enough for a status to be asked five times, at 50 ms and after waits that double. */
export const DURATIONS_MS = { pay: 300, execute: 900 };

/** A request as it arrived. */
export type Arrival = Pick<RequestLogEntry, 'atMs' | 'path' | 'orderId' | 'status'>;

/** The payment service's double, as a process. */
export class Service {
  private constructor(
    readonly process: BenchProcess,
    readonly url: string,
    private readonly adminUrl: string,
  ) {}

  static async start(seed: string, settings: SettingsChange = {}): Promise<Service> {
    const { apiKey, apiSecret } = SERVICE_KEYS;
    const started = await startNode(['--import', 'tsx', 'sandbox/main.ts'], {
      ...{ SANDBOX_PORT: '0', SANDBOX_ADMIN_PORT: '0', SANDBOX_SEED: seed },
      ...{ SANDBOX_API_KEY: apiKey, SANDBOX_API_SECRET: apiSecret },
    });
    const { service = '', admin = '' } = started.ready;
    await new ServiceAdmin(admin).set({ durationsMs: DURATIONS_MS, ...settings });
    return new Service(started, service, admin);
  }

  /** How many requests it got so far. */
  async requests(): Promise<number> {
    const { requestsByPath } = await this.#state();
    return Object.values(requestsByPath).reduce((sum, count) => sum + count, 0);
  }

  /** How many orders it has. */
  async executed(): Promise<number> {
    return Object.keys((await this.#state()).executedByOrderId).length;
  }

  /** All requests since then, in the order in which they came. */
  async arrivals(sinceMs: number): Promise<Arrival[]> {
    return (await (await fetch(`${this.adminUrl}/requests?sinceMs=${sinceMs}`)).json()) as Arrival[];
  }

  /** Every open order becomes final now. */
  async finishAll(): Promise<void> {
    await fetch(`${this.adminUrl}/finish`, { method: 'POST' });
  }

  async #state() {
    const answer = await fetch(`${this.adminUrl}/state`);
    return (await answer.json()) as {
      requestsByPath: Record<string, number>;
      executedByOrderId: Record<string, number>;
    };
  }
}
