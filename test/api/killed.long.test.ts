import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, expect, test } from 'vitest';
import { freePort } from '../../scripts/temporal/dev-server.js';
import { orderInput } from '../support/inputs.js';
import { newOrderId, useLab } from '../support/lab.js';
import { endProcesses, type Process, startProcess, temporalEnv } from '../worker/process.fixture.js';

const STARTS = 200;
const KILLS = 4;

const lab = useLab({ groups: true });
afterAll(endProcesses);

test(`kill -9 of the API in the middle of ${STARTS} starts: each is repeated and executed once`, async () => {
  const address = `127.0.0.1:${await freePort()}`;
  const startApi = (): Process =>
    startProcess('src/api.ts', {
      ...temporalEnv(lab.temporal),
      API_ADDRESS: address,
      LOG_LEVEL: 'error',
    });
  let api = startApi();
  await api.ready;
  const [missing, statuses] = [new Map<string, number>(), new Map<number, number>()];
  const count = <K>(counts: Map<K, number>, key: K) => void counts.set(key, (counts.get(key) ?? 0) + 1);

  /** Repeats the same request until it says that the order exists. */
  async function start(id: string): Promise<void> {
    const body = JSON.stringify({ order_type: 'withdraw', ...orderInput('withdraw', id) });
    const headers = { 'content-type': 'application/json' };
    for (;;) {
      const answer = await fetch(`http://${address}/v1/orders?wait=20`, { method: 'POST', headers, body }).catch(
        () => undefined,
      );
      if (answer) count(statuses, answer.status);
      else count(missing, id);
      if (answer?.status === 200 || answer?.status === 201) return;
      if (answer) expect([202, 503]).toContain(answer.status);
      await sleep(100);
    }
  }

  const ids = Array.from({ length: STARTS }, () => newOrderId('api-killed'));
  const queue = [...ids];
  const caller = async (): Promise<void> => {
    for (let id = queue.shift(); id !== undefined; id = queue.shift()) await start(id);
  };
  const callers = Promise.all(Array.from({ length: 20 }, caller));
  for (let kill = 1; kill <= KILLS; kill += 1) {
    const due = STARTS - (kill * STARTS) / (KILLS + 1);
    await expect.poll(() => queue.length, { timeout: 240_000, interval: 20 }).toBeLessThanOrEqual(due);
    api.kill('SIGKILL');
    await api.exited;
    api = startApi();
    await api.ready;
  }
  await callers;
  const { executedByOrderId } = lab.sandbox.stats();
  expect(ids.filter((id) => executedByOrderId[id] !== 1)).toEqual([]);
  expect(missing.size).toBeGreaterThan(0);
  const answers = [...statuses].map(([status, times]) => `${times} × ${status}`).join(', ');
  process.stdout.write(
    `${STARTS} starts, ${KILLS} kills: ${answers}, ${missing.size} of them without an answer once\n`,
  );
}, 600_000);
