import type { Client } from '@temporalio/client';
import type { WorkerConfig } from '../config.js';
import type { UsedAccount } from '../contract/order/sent-to.js';
import type { Balances } from '../contract/service-objects.js';
import type { PaymentService } from '../payment-service/client.js';
import type { Protections } from '../temporal/published.js';

/** `error` must be corrected, `warning` should be, `note` is information. */
export type Level = 'error' | 'warning' | 'note';

/** Finding of a check. */
export interface Finding {
  check: string;
  level: Level;
  account?: string;
  /** Mistake and correction in one line, without secrets. */
  text: string;
  /** No process can work, so it refuses to start. */
  refuses?: true;
}

/** Account that may be asked. */
export interface AskedAccount extends UsedAccount {
  service: Pick<PaymentService, 'balances' | 'rates'>;
}

/** Subject of the checks. */
export interface Target {
  /** Absent if Temporal is unreachable; all other checks run. */
  client?: Client;
  config: Pick<WorkerConfig, 'encryptionKeys'> & Partial<WorkerConfig>;
  /** Settings that a running worker sees of others; absent = Temporal is asked. */
  others?: (account: string) => readonly Protections[];
  /** Opened accounts. */
  accounts?: ReadonlyMap<string, AskedAccount>;
}

/** Answers of one account. `skewMs`: how far the service's clock is ahead. */
export interface Shown {
  balances?: Balances;
  /** Why there are no balances. */
  error?: unknown;
  skewMs?: number;
}

/** Input of a check. `shown`: answers of the accounts, read once for all checks. */
export interface Asked extends Target {
  shown: Promise<ReadonlyMap<string, Shown>>;
}

/** Returns the name of a finding, such as `clock:eu`. */
export const nameOf = ({ check, account }: Finding): string => (account === undefined ? check : `${check}:${account}`);

/** Returns the names of the findings to correct, each once. */
export const namesOf = (findings: readonly Finding[]): readonly string[] => [
  ...new Set(findings.filter(({ level }) => level !== 'note').map(nameOf)),
];
