import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { inert } from '../../src/workflows/show.js';
import { orderInput } from '../support/inputs.js';
import { type Lab, newOrderId, openLab } from '../support/lab.js';
import { detailsOf } from './order/details.fixture.js';

/** Markdown that would look like a part of a page. */
const LIVE = '[All clear, confirm](https://evil.example) ![x](https://evil.example/x) **Why** <b>x</b> | a | b |';
const TOLD = { by: 'Ann Smith', reason: LIVE };
const isLive = (page: string): string[] => page.match(/\]\(|!\[|\*\*Why\*\* ‹|<b>|\| a \|/g) ?? [];

let lab: Lab;
beforeAll(async () => {
  lab = await openLab();
});
afterAll(() => lab.close());

test('a text of others has nothing that a page would show as its own', () => {
  expect(inert(LIVE)).toBe(
    '[All clear, confirm] (https://evil.example) ! [x] (https://evil.example/x) *Why* ‹b>x‹/b> ¦ a ¦ b ¦',
  );
  const ours = '`code` of ours, a*b, and ****1234, which is masked';
  expect(inert(ours)).toBe(ours);
});

test('the pages of a stop, of an order that waits for it, and of a held order show reasons as texts', async () => {
  const { accounts } = lab.orders;
  await accounts.stop('default', TOLD);
  const id = newOrderId('inert');
  const order = await lab.orders.start('withdraw', orderInput('withdraw', id));
  await vi.waitFor(async () => expect((await order.state()).waitingFor).toContain('stopped'), 30_000);
  await vi.waitFor(async () => expect(await detailsOf(lab, order)).toContain('All clear'), 30_000);
  expect(isLive(await detailsOf(lab, order))).toEqual([]);
  const stop = await detailsOf(lab, { workflowId: 'stop:default' });
  expect(stop).toContain('All clear');
  expect(isLive(stop)).toEqual([]);
  await order.hold(TOLD);
  await accounts.resume('default', TOLD);
  await vi.waitFor(async () => expect((await order.state()).attention?.code).toBe('held'), 30_000);
  const held = await detailsOf(lab, order);
  expect(held).toContain('All clear');
  expect(isLive(held)).toEqual([]);
});
