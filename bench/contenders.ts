import { orderWorkflowId } from '../src/contract/names.js';
import type { Product } from './product.js';
import type { OurSettings, OurSite, Site, Stand } from './stand.js';

/** Something whose orders are measured. */
export interface Contender {
  name: string;
  /** What its ratios are made with. */
  against?: string;
  /** How many of the others' orders it gets: what costs several times as much needs no longer to be seen. */
  share?: number;
  open(stand: Stand): Promise<OpenContender>;
}

/** One that runs. */
export interface OpenContender extends Site {
  /** Starts an order and resolves at its end. */
  run(orderId: string): Promise<void>;
  /** The histories that an order leaves. */
  histories(orderId: string): Promise<{ events: number; bytes: number }[]>;
}

/** The order that all of them make. */
export const REQUEST = { currency: 'usd', network: 'card', amount: '12.50', wallet: '4111111111111111' } as const;

/** Whoever polls finds the order final at the fifth look, however slow the machine is: all of them poll equally often, and all but
 * the schedule, which runs every second, wait about 1.5 s between them. */
const POLLED = { description: '[sandbox after_ms=600000 after_looks=5]' };

const namespaceOf = (name: string): string => name.replaceAll(' ', '-');

const sizeOf = async ({ client }: Site, workflowId: string) => {
  const { historyLength, historySize = 0 } = await client.workflow.getHandle(workflowId).describe();
  return { events: historyLength, bytes: historySize };
};

const ownHistory = (site: Site) => async (orderId: string) => [await sizeOf(site, orderWorkflowId('default', orderId))];

/** Starts a withdraw of ours and resolves at its end; throws when it did not complete. */
export async function runOrder(
  { orders }: OurSite,
  orderId: string,
  more: { description?: string } = {},
): Promise<void> {
  const handle = await orders.start('withdraw', { order: { order_id: orderId, ...REQUEST, ...more } });
  const { outcome } = await handle.result();
  if (outcome !== 'completed') throw new Error(`${orderId} ended ${outcome}`);
}

const ours = (name: string, against: string, settings: OurSettings = {}): Contender => ({
  name,
  against,
  open: async (stand) => {
    const site = await stand.ours(namespaceOf(name), settings);
    const more = settings.callbacks === false ? POLLED : {};
    return { ...site, run: (orderId) => runOrder(site, orderId, more), histories: ownHistory(site) };
  },
});

const floor = (name: string, workflowType: string, against?: string): Contender => ({
  name,
  ...(against && { against }),
  open: async (stand) => {
    const site = await stand.floor(namespaceOf(name));
    const run = async (orderId: string): Promise<void> => {
      const workflowId = orderWorkflowId('default', orderId);
      const order = { order_id: orderId, ...REQUEST, ...(workflowType !== 'floorByCallback' && POLLED) };
      await site.client.workflow.execute(workflowType, { workflowId, taskQueue: 'floor', args: [order] });
    };
    return { ...site, run, histories: ownHistory(site) };
  },
});

const slow = (contender: Contender): Contender => ({ ...contender, share: 0.5 });

/** Its looks, and Temporal's workflow behind the schedule, are part of what the order costs. */
const withSchedule = (contender: Contender): Contender => ({
  ...contender,
  open: async (stand) => {
    const opened = await contender.open(stand);
    const histories = async (orderId: string) => {
      const looks = opened.client.workflow.list({ query: `WorkflowId STARTS_WITH 'look-${orderId}-'` });
      const ids = [`temporal-sys-scheduler:${orderId}`];
      for await (const { workflowId } of looks) ids.push(workflowId);
      const others = await Promise.all(ids.map((workflowId) => sizeOf(opened, workflowId)));
      return [...(await opened.histories(orderId)), ...others];
    };
    return { ...opened, histories };
  },
});

/** All of them; `other`: another build of the product. A ratio needs its other side in the same run. */
export const contenders = (other?: Product): readonly Contender[] => [
  floor('floor by callback', 'floorByCallback'),
  ours('ours by callback', 'floor by callback'),
  ours('ours encrypted', 'ours by callback', { encrypted: true }),
  ...(other ? [ours(`${other.name} by callback`, 'ours by callback', { product: other })] : []),
  floor('floor by polling', 'floorByPolling'),
  ours('ours by polling', 'floor by polling', { callbacks: false }),
  ...(other ? [ours(`${other.name} by polling`, 'ours by polling', { product: other, callbacks: false })] : []),
  slow(floor('timer loop', 'timerLoop', 'ours by polling')),
  slow(withSchedule(floor('schedule per payout', 'schedulePerPayout', 'ours by polling'))),
];
