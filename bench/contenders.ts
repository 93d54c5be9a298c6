import type { Client } from '@temporalio/client';
import { orderWorkflowId } from '../src/contract/names.js';
import type { OurSettings, Stand } from './stand.js';

/** Something whose orders are measured. */
export interface Contender {
  name: string;
  /** What its ratios are made with. */
  against?: string;
  open(stand: Stand): Promise<OpenContender>;
}

/** One that runs. */
export interface OpenContender {
  workerPid: number;
  /** Starts an order and resolves at its end. */
  run(orderId: string): Promise<void>;
  client: Client;
}

const REQUEST = { currency: 'usd', network: 'card', amount: '12.50', wallet: '4111111111111111' } as const;

const namespaceOf = (name: string): string => name.replaceAll(' ', '-');

const ours = (name: string, against: string, settings: OurSettings = {}): Contender => ({
  name,
  against,
  open: async (stand) => {
    const { worker, client, orders } = await stand.ours(namespaceOf(name), settings);
    const run = async (orderId: string): Promise<void> => {
      const handle = await orders.start('withdraw', { order: { order_id: orderId, ...REQUEST } });
      const { outcome } = await handle.result();
      if (outcome !== 'completed') throw new Error(`${name}: ${orderId} ended ${outcome}`);
    };
    return { workerPid: worker.pid, client, run };
  },
});

const floor = (name: string, workflowType: string, against?: string): Contender => ({
  name,
  ...(against && { against }),
  open: async (stand) => {
    const { worker, client } = await stand.floor(namespaceOf(name));
    const run = async (orderId: string): Promise<void> => {
      const workflowId = orderWorkflowId('default', orderId);
      await client.workflow.execute(workflowType, { workflowId, taskQueue: 'floor', args: [orderId] });
    };
    return { workerPid: worker.pid, client, run };
  },
});

/** All of them; a ratio needs its other side in the same run. */
export const CONTENDERS: readonly Contender[] = [
  floor('floor by callback', 'floorByCallback'),
  ours('ours by callback', 'floor by callback'),
  ours('ours encrypted', 'ours by callback', { encrypted: true }),
  floor('floor by polling', 'floorByPolling'),
  ours('ours by polling', 'floor by polling', { callbacks: false }),
  floor('timer loop', 'timerLoop', 'ours by polling'),
  floor('schedule per payout', 'schedulePerPayout', 'ours by polling'),
];
