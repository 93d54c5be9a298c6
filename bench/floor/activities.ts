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

/** What the floor's workflows call. */
export type FloorActivities = ReturnType<typeof floorActivities>;

/** Signed calls without anything around them. */
export function floorActivities(service: FloorService, client: Client) {
  const { baseUrl, apiKey, apiSecret, callbackBaseUrl, tokenKey } = service;
  async function call(path: string, request: object): Promise<{ status: string }> {
    const body = JSON.stringify(request);
    const headers = {
      'content-type': 'application/json',
      'Api-key': apiKey,
      Signature: createHmac('sha256', apiSecret).update(body).digest('hex'),
    };
    const answer = await got.post(`${baseUrl}/v2/${path}`, { body, headers, retry: { limit: 0 } }).json();
    return (answer as { data: { status: string } }).data;
  }
  const status = async (orderId: string): Promise<string> => (await call('order/status', { order_id: orderId })).status;
  return {
    status,
    create: async (orderId: string, withCallback: boolean): Promise<void> => {
      const target = { kind: 'order', account: 'default', orderId } as const;
      await call('order/withdraw', {
        ...{ order_id: orderId, currency: 'usd', network: 'card', amount: '12.50', wallet: '4111111111111111' },
        ...(withCallback && { callback_url: callbackUrl(callbackBaseUrl, tokenKey, target) }),
      });
    },
    poll: async (orderId: string): Promise<string> => {
      const seen = await status(orderId);
      if (seen !== 'completed') throw new Error(seen);
      return seen;
    },
    schedulePolls: async (orderId: string): Promise<void> => {
      await client.schedule.create({
        scheduleId: orderId,
        spec: { intervals: [{ every: '1s' }] },
        action: { type: 'startWorkflow', workflowType: 'pollOfSchedule', taskQueue: 'floor', args: [orderId] },
      });
    },
    lookOnce: async (orderId: string): Promise<void> => {
      const seen = await status(orderId);
      if (seen !== 'completed') return;
      await client.schedule.getHandle(orderId).delete();
      await client.workflow.getHandle(orderWorkflowId('default', orderId)).signal('final', seen);
    },
  };
}
