import type { Client } from '@temporalio/client';
import type { WorkerConfig } from '../config.js';
import type { UsedAccount } from '../contract/order/sent-to.js';
import type { Balances } from '../contract/service-objects.js';
import type { PaymentService } from '../payment-service/client.js';
import type { Protections } from '../temporal/published.js';

/** `error` has to be mended, `warning` is less than it should be, `note` is good to know. */
export type Level = 'error' | 'warning' | 'note';

/** What a check found. */
export interface Finding {
  check: string;
  level: Level;
  account?: string;
  /** What is wrong and what to do, in one line; shows no secret. */
  text: string;
  /** Nothing could work with it: no process starts. */
  refuses?: true;
}

/** One account that may be asked. */
export interface AskedAccount extends UsedAccount {
  service: Pick<PaymentService, 'balances'>;
}

/** What is checked. */
export interface Target {
  /** Absent where Temporal cannot be reached: then all else is checked. */
  client?: Client;
  config: Pick<WorkerConfig, 'encryptionKeys'> & Partial<WorkerConfig>;
  /** What a running worker sees of the account's other workers; absent = Temporal is asked. */
  others?: (account: string) => readonly Protections[];
  /** The accounts, opened. */
  accounts?: ReadonlyMap<string, AskedAccount>;
}

/** What one account showed. `skewMs`: what the service's clock is ahead of this machine's. */
export interface Shown {
  balances?: Balances;
  /** Why there are no balances. */
  error?: unknown;
  skewMs?: number;
}

/** What a check is given. `shown`: the accounts, asked once for all checks that are made together. */
export interface Asked extends Target {
  shown: Promise<ReadonlyMap<string, Shown>>;
}

/** Where somebody looks who knows the findings' names: `clock:eu`. */
export const nameOf = ({ check, account }: Finding): string => (account === undefined ? check : `${check}:${account}`);

/** The findings of a line `ready`: names of what should be mended, each once. */
export const namesOf = (findings: readonly Finding[]): readonly string[] => [
  ...new Set(findings.filter(({ level }) => level !== 'note').map(nameOf)),
];
