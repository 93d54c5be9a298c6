import { afterAll, beforeAll, expect } from 'vitest';
import type { SettingsChange } from '../../sandbox/options.js';
import { endProcesses } from '../worker/process.fixture.js';
import { type BatchLab, openBatchLab } from '../workflows/batch/batches.fixture.js';
import { type KillableWorkers, startKillableWorkers } from './killable-workers.fixture.js';

/** A lab whose service has a limit that two worker processes share. */
export type PacedLab = BatchLab & { workers: KillableWorkers };

/** More settings of the service and of the workers. */
export interface PacedOptions {
  settings?: SettingsChange;
  env?: Record<string, string>;
}

/** Sets such a lab up for a test file. Polls are slow, so that the limit is left to what the rows need. */
export function usePacedLab(requestsPerSecond: number, { settings, env }: PacedOptions = {}): PacedLab {
  const lab = {} as PacedLab;
  beforeAll(async () => {
    const sandbox = { settings: { requestsPerSecond, ...settings } };
    Object.assign(lab, await openBatchLab({ workers: false, sandbox }));
    lab.workers = await startKillableWorkers(lab, 2, {
      PAYMENT_REQUESTS_PER_SECOND: `${requestsPerSecond}`,
      ORDER_POLL_INITIAL: '30s',
      ORDER_POLL_MAX: '60s',
      ...env,
    });
  });
  afterAll(async () => {
    await endProcesses();
    await lab.close?.();
  });
  return lab;
}

/** Writes a line into the test's output: figures that are worth a look although they are within the bounds. */
export const say = (line: string): void => void process.stdout.write(`${line}\n`);

/** The most requests that reached the service in any window of that length so far. */
export const busiest = ({ sandbox }: PacedLab, windowMs: number): number => sandbox.requestRate(windowMs).busiest;

/** The service saw at most `requestsPerSecond` over any 60 s so far, and 1.25 times as many over any 5 s. */
export function expectWithinLimit(lab: PacedLab, requestsPerSecond: number): void {
  const perSecond = (windowMs: number) => busiest(lab, windowMs) / (windowMs / 1_000);
  const [minute, moment] = [perSecond(60_000), perSecond(5_000)];
  say(`requests a second: ${minute.toFixed(1)} over 60 s, ${moment.toFixed(1)} over 5 s (limit ${requestsPerSecond})`);
  expect(minute).toBeLessThanOrEqual(requestsPerSecond);
  expect(moment).toBeLessThanOrEqual(requestsPerSecond * 1.25);
}
