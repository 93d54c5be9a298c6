import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { useLab } from '../support/lab.js';
import { endProcesses, type Process } from '../worker/process.fixture.js';
import {
  DEPLOYMENT,
  endsOf,
  openOrders,
  startVersion,
  type Told,
  temporal,
  versions,
} from '../worker/versions.fixture.js';

const ORDERS = Number(process.env.VERSIONS_ORDERS ?? 200);
const TEST_LIMIT_MS = 15 * 60_000;
const QUEUES_KNOWN_WITHIN_MS = 60_000;

const lab = useLab({ workers: false });
let next: (program: string) => string;
let newer: Process;
beforeAll(async () => {
  next = await versions.next();
  await startVersion(lab, 'src/worker.ts', 'old');
  await setCurrent('old');
}, TEST_LIMIT_MS);
afterAll(endProcesses);

/** Temporal hears of a version's queues one by one, by their first polls: until it knows them all it refuses, as docs/upgrading.md says. */
async function deployment(verb: string, buildId: string): Promise<void> {
  const command = `worker deployment ${verb} --deployment-name ${DEPLOYMENT} --build-id ${buildId} --yes`;
  for (const begunMs = Date.now(); ; await sleep(500)) {
    try {
      await temporal(lab.temporal, command);
      return;
    } catch (error) {
      const isEarly = /missing active task queues/.test(String(error));
      if (!isEarly || Date.now() - begunMs > QUEUES_KNOWN_WITHIN_MS) throw error;
    }
  }
}

const setCurrent = (buildId: string) => deployment('set-current-version', buildId);

const say = (what: string, told: Told): void => void process.stdout.write(`${what}: ${JSON.stringify(told)}\n`);

describe(`${ORDERS} open orders across a switch of versions`, { timeout: TEST_LIMIT_MS }, () => {
  test('from the old one to the new one: no task fails', async () => {
    const ids = await openOrders(lab, 'forth', ORDERS);
    newer = await startVersion(lab, next('worker'), 'next');
    await deployment('set-ramping-version', 'next --percentage 50');
    await setCurrent('next');
    lab.sandbox.finishAll();
    const told = await endsOf(lab, ids);
    say('old to new', told);
    expect(told).toEqual({ completed: ORDERS, failedTasks: 0, markers: 0, versions: { 'old→next': ORDERS } });
  });

  test('and back from the new one to the old one: no task fails', async () => {
    const ids = await openOrders(lab, 'back', ORDERS);
    await setCurrent('old');
    lab.sandbox.finishAll();
    const told = await endsOf(lab, ids);
    say('new to old', told);
    expect(told).toEqual({ completed: ORDERS, failedTasks: 0, markers: 0, versions: { 'next→old': ORDERS } });
    newer.kill('SIGTERM');
    expect(await newer.exited).toBe(0);
  });
});
