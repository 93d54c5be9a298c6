import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { deliveryWorkflowId, searchAttribute } from '../../../src/contract/names.js';
import { newFolder } from '../../support/batch-files.js';
import { EVENT_SECRET, startEventReceiver, status } from '../../support/event-receiver.js';
import { DAY_MS, type GatedLab, HOUR_MS, MINUTE_MS, openGatedLab } from '../../support/gated-lab.js';
import { orderInput } from '../../support/inputs.js';

vi.setConfig({ testTimeout: 600_000 });

const folder = newFolder(afterAll);
let shop: Awaited<ReturnType<typeof startEventReceiver>>;
let lab: GatedLab;

beforeAll(async () => {
  shop = await startEventReceiver('shop', status(503));
  const { allowPrivate, url } = shop.config;
  const file = join(folder, 'events.json');
  const entry = { name: 'shop', url: url.reveal(), secrets: [EVENT_SECRET], allowPrivate };
  await writeFile(file, JSON.stringify([entry]), { mode: 0o600 });
  lab = await openGatedLab({ EVENTS_FILE: file });
});
afterAll(async () => {
  await lab?.close();
  await shop?.close();
});

test('what is not delivered within an hour wants a person, is tried for three days, and `send` delivers it in its order', async () => {
  const orderId = 'undelivered';
  const handle = await lab.orders.start('withdraw', orderInput('withdraw', orderId));
  await lab.result(handle, HOUR_MS);
  const delivery = lab.orders.client.workflow.getHandle(deliveryWorkflowId(handle.workflowId));
  const reason = async () => (await delivery.describe()).typedSearchAttributes.get(searchAttribute.attentionReason);
  const kinds = () => [...new Set(shop.received.map(({ event }) => event.type))];
  await lab.skip(HOUR_MS + 10 * MINUTE_MS);
  expect([await reason(), kinds()]).toEqual(['event-undelivered', ['order.created']]);
  await lab.skip(2 * DAY_MS);
  expect([await reason(), kinds()]).toEqual(['event-undelivered', ['order.created']]);
  await lab.skip(DAY_MS);
  // The next one has its own three days, and is not held up by it. A receiver at rest gets one event a second, by the real clock.
  await lab.skip(7 * DAY_MS);
  expect(kinds()).toEqual(['order.created', 'order.final', 'order.ended']);
  const isIdle = async () => (await delivery.describe()).raw.pendingActivities?.length === 0;
  await lab.skipUntil(isIdle, HOUR_MS, 20 * DAY_MS);
  const times = shop.received.length;
  expect(times).toBeGreaterThan(200);
  expect(times).toBeLessThan(330);
  await lab.skip(DAY_MS);
  expect(shop.received.length).toBe(times);
  shop.answer = status(204);
  await delivery.signal('send');
  await lab.skipUntil(async () => (await delivery.describe()).status.name === 'COMPLETED', MINUTE_MS, HOUR_MS);
  expect(shop.received.slice(times).map(({ event }) => event.type)).toEqual(kinds());
  expect(await reason()).toBeUndefined();
});
