import { createHmac } from 'node:crypto';
import type { Client } from '@temporalio/client';
import { got } from 'got';
import { callbackUrl } from '../../src/contract/callback-url.js';
import { orderWorkflowId } from '../../src/contract/names.js';

/** Where the service is, and where callbacks go. */
export interface FloorService {
  baseUrl: string;
  apiKey: string;
  apiSecret: string;
  callbackBaseUrl: string;
  tokenKey: string;
}

/** What is ordered. */
export interface FloorRequest {
  order_id: string;
  currency: string;
  network: string;
  amount: string;
  wallet: string;
  description?: string;
}

/** The service's order object, whole, as it goes to whoever awaits the order. */
export type FloorOrder = Record<string, unknown> & { status: string };

/** What the floor's workflows call. */
export type FloorActivities = ReturnType<typeof floorActivities>;

/** Signed calls without anything around them. */
export function floorActivities(service: FloorService, client: Client) {
  const { baseUrl, apiKey, apiSecret, callbackBaseUrl, tokenKey } = service;
  async function call(path: string, request: object): Promise<FloorOrder> {
    const body = JSON.stringify(request);
    const headers = {
      'content-type': 'application/json',
      accept: 'application/json; charset=utf-8',
      'Api-key': apiKey,
      Signature: createHmac('sha256', apiSecret).update(body).digest('hex'),
    };
    const answer = await got.post(`${baseUrl}/v2/${path}`, { body, headers, retry: { limit: 0 } });
    return (JSON.parse(answer.body) as { data: FloorOrder }).data;
  }
  const status = (orderId: string): Promise<FloorOrder> => call('order/status', { order_id: orderId });
  return {
    status,
    create: (order: FloorRequest, { withCallback = false } = {}): Promise<FloorOrder> => {
      const target = { kind: 'order', account: 'default', orderId: order.order_id } as const;
      return call('order/withdraw', {
        ...{ ...order, amount: Number(order.amount) },
        ...(withCallback && { callback_url: callbackUrl(callbackBaseUrl, tokenKey, target) }),
      });
    },
    poll: async (orderId: string): Promise<FloorOrder> => {
      const seen = await status(orderId);
      if (seen.status !== 'completed') throw new Error(seen.status);
      return seen;
    },
    schedulePolls: async (orderId: string): Promise<void> => {
      await client.schedule.create({
        scheduleId: orderId,
        spec: { intervals: [{ every: '1s' }] },
        action: {
          ...{ type: 'startWorkflow', workflowType: 'pollOfSchedule', taskQueue: 'floor', args: [orderId] },
          workflowId: `look-${orderId}`,
        },
      });
    },
    lookOnce: async (orderId: string): Promise<void> => {
      const seen = await status(orderId);
      if (seen.status !== 'completed') return;
      await client.schedule.getHandle(orderId).delete();
      await client.workflow.getHandle(orderWorkflowId('default', orderId)).signal('final', seen);
    },
  };
}
