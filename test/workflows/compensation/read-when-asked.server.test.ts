import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, expect, test, vi } from 'vitest';
import {
  goesOn,
  resetTo,
  resettableEvents,
  resultOf,
  runOf,
  WITHOUT_UPDATES,
} from '../../reliability/reset.fixture.js';
import { useGatedLab } from '../../support/lab.js';
import { listAnswer, operationOf } from '../../support/service-gate.js';
import { atService, decideNow, executions, parkedFor, startSteered } from './parked-orders.fixture.js';

const lab = useGatedLab();
afterEach(() => {
  lab.gate.rule = () => undefined;
});

const start = (marker = '') =>
  startSteered(lab, 'withdraw', {
    marker: `${marker} outcome=completed_partially fraction=0.4`.trim(),
    compensation: 'ask',
  });
const readings = (orderId: string) => lab.gate.about(orderId, 'status').length;

test('a callback asks anew about a rest that the service paid meanwhile', async () => {
  const { orderId, handle } = await start('callback=drop');
  const { revision } = await parkedFor(handle, 'are left');
  const { order_uuid: uuid } = atService(lab, orderId).order;
  lab.sandbox.turnOrder(uuid, 'completed');
  expect(await lab.sandbox.sendCallback(uuid)).toBe(200);
  const now = await parkedFor(handle, 'now reads completed');
  expect(now.attention?.allowed).toEqual(['accept']);
  expect(now.revision).toBeGreaterThan(revision);
});

test('a callback without news leaves the question and its revision', async () => {
  const { orderId, handle } = await start('callback=drop');
  const { revision, attention } = await parkedFor(handle, 'are left');
  const before = readings(orderId);
  expect(await lab.sandbox.sendCallback(atService(lab, orderId).order.order_uuid)).toBe(200);
  await vi.waitFor(() => expect(readings(orderId)).toBe(before + 1), 20_000);
  await sleep(500);
  expect(await handle.state()).toMatchObject({ phase: 'parked', revision, attention });
  await decideNow(handle, 'finish');
  expect((await handle.result()).compensation).toMatchObject({ status: 'done', order_id: `${orderId}.r1` });
  expect(executions(lab, `${orderId}.r1`)).toBe(1);
});

test('what the service paid while a person was asked is not left to whoever accepts', async () => {
  const { orderId, handle } = await start('callback=drop');
  await parkedFor(handle, 'are left');
  lab.sandbox.turnOrder(atService(lab, orderId).order.order_uuid, 'completed');
  await decideNow(handle, 'accept');
  const { remainder, remainderUnknown } = await handle.result();
  expect({ remainder, remainderUnknown }).toEqual({
    remainderUnknown: 'the final status was completed_partially and now reads completed',
  });
});

test.for([
  ['with', WITHOUT_UPDATES],
  ['without', []],
] as const)(
  'a run that is reset to its question, %s exclusion, looks over the window for what was paid since',
  async ([, exclude]) => {
    const { orderId, handle } = await start();
    await parkedFor(handle, 'are left');
    const first = await runOf(lab, handle);
    const event = (await resettableEvents(lab, first)).at(-1) ?? '';
    await decideNow(handle, 'finish');
    expect((await handle.result()).compensation).toMatchObject({ status: 'done', order_id: `${orderId}.r1` });
    // The list shows it only in its third answer.
    let hidden = 2;
    lab.gate.rule = ({ path, body }) => {
      if (operationOf(path) !== 'list' || !body.includes(`${orderId}.r1`) || hidden-- <= 0) return undefined;
      const { order, balance_changes } = atService(lab, orderId);
      return listAnswer(body, [{ ...order, balance_changes }]);
    };
    const cut = await resetTo(lab, first, event, [...exclude]);
    const now = lab.orders.order(orderId);
    await parkedFor(now, 'are left');
    await decideNow(now, 'accept');
    const { remainder, remainderUnknown } = await resultOf(lab, cut);
    expect({ remainder, remainderUnknown }).toEqual({ remainderUnknown: expect.stringContaining(`${orderId}.r1`) });
  },
);

test('an order that was asked anew and accepted goes on from every event of it', async () => {
  const { orderId, handle } = await start('callback=drop');
  await parkedFor(handle, 'are left');
  const { order_uuid: uuid } = atService(lab, orderId).order;
  lab.sandbox.turnOrder(uuid, 'completed');
  await lab.sandbox.sendCallback(uuid);
  await parkedFor(handle, 'now reads completed');
  await decideNow(handle, 'accept');
  await handle.result();
  const first = await runOf(lab, handle);
  for (const eventId of await resettableEvents(lab, first))
    await goesOn(lab, await resetTo(lab, first, eventId), Number(eventId));
});
