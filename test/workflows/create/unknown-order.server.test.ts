import { afterAll, describe, expect, test, vi } from 'vitest';
import { orderInput } from '../../support/inputs.js';
import { newOrderId, useLab } from '../../support/lab.js';
import { serviceView } from './service-view.fixture.js';

// The orders wait most of the time, and not for each other.
vi.setConfig({ maxConcurrency: 20 });

const lab = useLab();

const start = (orderId: string, marker: string) =>
  lab.orders.start('withdraw', orderInput('withdraw', orderId, { marker }));

const LIST = '/v2/order/list';

/** All of an order's requests between its first create and its second, with the status that the service gave. */
function settling(orderId: string): { path: string; status: number }[] {
  const about = lab.sandbox
    .requests()
    .filter((entry) => entry.orderId === orderId || entry.orderIds?.includes(orderId));
  // A list that shows other orders beside ours is read to its end: its second page tells nothing more.
  const isSecondPage = (index: number) =>
    about[index]?.path === LIST && about[index - 1]?.path === LIST && about[index - 1]?.status === 200;
  const mine = about.filter((_, index) => !isSecondPage(index));
  const [first = -1, second = -1] = mine.flatMap(({ path }, index) => (path === '/v2/order/withdraw' ? [index] : []));
  // The last request before a create is its probe.
  return mine.slice(first + 1, second - 1);
}

describe('absence of a create that was not executed is proven, then it is sent again once', () => {
  afterAll(() => lab.sandbox.set({ unknownMode: 'a' }));

  // One after the other: the answer to unknown orders belongs to the whole service.
  test.for([
    { mode: 'a', status: 400 },
    { mode: 'b', status: 404 },
    { mode: 'c', status: 200 },
    { mode: 'd', status: 200 },
    { mode: 'e', status: 200 },
  ] as const)('when unknown orders are answered as in mode $mode', async ({ mode, status }) => {
    lab.sandbox.set({ unknownMode: mode });
    const orderId = newOrderId('unknown');
    const handle = await start(orderId, 'create=500-before');
    const refused = orderInput('deposit', newOrderId('refused'), { marker: 'create=400' });
    const rejected = await lab.orders.start('deposit', refused);
    expect(await handle.result()).toMatchObject({ outcome: 'completed', adopted: false });
    expect(serviceView(lab, orderId)).toEqual({ creates: 2, executed: 1, blindCreates: 0 });
    await expect(rejected.result()).rejects.toMatchObject({ type: 'OrderRejected' });
    const readings = settling(orderId);
    expect(readings.length).toBeGreaterThanOrEqual(6);
    expect(readings.filter(({ path }) => path === '/v2/order/list').every((entry) => entry.status === 200)).toBe(true);
    const asked = readings.filter(({ path }) => path === '/v2/order/status');
    expect(new Set(asked.map((entry) => entry.status))).toEqual(new Set([status]));
  });
});

describe.concurrent('a look-up that fails is no reading', () => {
  test.for(['401', '404', '429', '500', 'html', 'reset', 'ignore-filter'])(
    'list answered with %s: never counted as absence',
    async (fault) => {
      const orderId = newOrderId('list');
      const handle = await start(orderId, `create=500-before list=${fault} list_times=2`);
      expect(await handle.result()).toMatchObject({ outcome: 'completed', adopted: false });
      expect(serviceView(lab, orderId)).toEqual({ creates: 2, executed: 1, blindCreates: 0 });
      // The status could show the order in these rounds, too; too many requests are not answered with one more.
      const [list, status] = ['/v2/order/list', '/v2/order/status'];
      const round = fault === '429' ? [list] : [list, status];
      const unclear = [...round, ...round];
      const paths = settling(orderId).map(({ path }) => path);
      expect(paths.slice(0, unclear.length + 2)).toEqual([...unclear, list, status]);
      expect(paths.slice(unclear.length).filter((path) => path === status).length).toBeGreaterThanOrEqual(3);
    },
  );

  test.for(['401', '429', '500', '301', 'truncated'])(
    'status answered with %s: never counted as absence',
    async (fault) => {
      const orderId = newOrderId('status');
      const handle = await start(orderId, `create=500-before status=${fault} status_times=2`);
      expect(await handle.result()).toMatchObject({ outcome: 'completed', adopted: false });
      expect(serviceView(lab, orderId)).toEqual({ creates: 2, executed: 1, blindCreates: 0 });
      const clear = settling(orderId).filter((entry) => entry.path === '/v2/order/status' && entry.status === 400);
      expect(clear.length).toBeGreaterThanOrEqual(3);
    },
  );

  test('one of the two sees the order: it is adopted, whichever', async () => {
    const [byStatus, byList] = [newOrderId('by-status'), newOrderId('by-list')];
    const handles = [
      await start(byStatus, 'create=500 list=unseen'),
      await start(byList, 'create=500 status=unseen status_times=2'),
    ];
    for (const handle of handles) {
      expect(await handle.result()).toMatchObject({ outcome: 'completed', adopted: true });
      expect(serviceView(lab, handle.orderId)).toEqual({ creates: 1, executed: 1, blindCreates: 0 });
    }
  });
});
