import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { TrafficLine } from '../../sandbox/index.js';
import { newFolder } from '../support/batch-files.js';
import { startReceiver } from './receiver.fixture.js';
import { BODIES, call, create, start, until } from './sandbox.fixture.js';

const linesOf = async (dataDir: string): Promise<TrafficLine[]> =>
  (await readFile(join(dataDir, 'traffic.ndjson'), 'utf8'))
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));

test('with a data directory every request and callback is a line on disk, over restarts, with the fault it met', async () => {
  const dataDir = newFolder();
  const { url: callback_url, received } = await startReceiver([500]);
  const before = await start({ dataDir });
  await create(before, 'withdraw', 'w', { callback_url, description: '[sandbox create=502-after list=503]' });
  await until(
    () => received.length,
    (n) => n >= 2,
  );
  await before.close();

  const after = await start({ dataDir });
  await call(after, 'order/list', { order_ids: ['w'] });
  await call(after, 'order/status', { order_id: 'w' });
  const lines = await linesOf(dataDir);
  expect(lines.filter(({ kind }) => kind === 'request')).toMatchObject([
    { path: '/v2/order/withdraw', orderId: 'w', status: 502, fault: '502-after' },
    { path: '/v2/order/list', orderId: 'w', status: 503, fault: '503' },
    { path: '/v2/order/status', orderId: 'w', status: 200 },
  ]);
  expect(lines.filter(({ kind }) => kind === 'callback')).toMatchObject([
    { orderId: 'w', status: 500 },
    { orderId: 'w', status: 200 },
  ]);
  expect(JSON.stringify(lines)).not.toMatch(new RegExp(`${BODIES.withdraw.wallet}|sandbox-key|sandbox-secret`));
});
