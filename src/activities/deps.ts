import type { CallbackConfig } from '../config.js';
import type { Pace } from '../contract/pace.js';
import type { PaymentService } from '../payment-service/index.js';
import type { SharedRates } from './shared-rates.js';

/** One account as activities use it. */
export interface Account {
  name: string;
  service: PaymentService;
  /** Host of the base URL: pinned with every order at its first send. */
  host: string;
  rates: SharedRates;
}

/** What activities need from their worker. */
export interface ActivityDeps {
  accounts: ReadonlyMap<string, Account>;
  pace: Pace;
  /** Absent: orders get no callback URL and are followed by polling alone. */
  callback?: CallbackConfig;
}
