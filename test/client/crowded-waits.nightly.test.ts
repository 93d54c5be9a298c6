import { expect, onTestFinished, test } from 'vitest';
import { startDevServer } from '../../scripts/temporal/dev-server.js';
import { orderInput } from '../support/inputs.js';
import { newOrderId, openLab } from '../support/lab.js';

/** As many calls of one kind that wait as the server allows in a namespace; 1,200 by default. */
const ROOM = 30;

test('more callers wait for results than Temporal has room for: each gets its own', async () => {
  const server = await startDevServer({ log: () => undefined, dynamicConfig: { 'frontend.namespaceCount': ROOM } });
  onTestFinished(() => server.stop());
  const lab = await openLab({ temporalAddress: server.address });
  onTestFinished(() => lab.close());
  const ids = Array.from({ length: 3 * ROOM }, () => newOrderId('waits'));
  const start = (id: string) => lab.orders.start('withdraw', orderInput('withdraw', id, { marker: 'after_ms=60000' }));
  const handles = await Promise.all(ids.map(start));
  const results = await Promise.all(handles.map((handle) => handle.result()));
  expect(results.map(({ outcome }) => outcome)).toEqual(ids.map(() => 'completed'));
}, 240_000);
