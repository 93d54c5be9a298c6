import { randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { deliveryWorkflowId } from '../../src/contract/names.js';
import { input, type Scenario } from './scenarios.js';

/** Starts a receiver whose first answer is 500, and writes its EVENTS_FILE. */
export async function startReceiverOfEvents(folder: string): Promise<{ path: string; close: () => void }> {
  let posts = 0;
  const server = createServer((request, response) => {
    request.resume();
    posts += 1;
    response.writeHead(posts === 1 ? 500 : 204).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const path = join(folder, 'events.json');
  const secrets = [`whsec_${randomBytes(32).toString('base64')}`];
  await writeFile(path, JSON.stringify([{ name: 'shop', url, secrets, allowPrivate: true }]), { mode: 0o600 });
  return { path, close: () => server.close() };
}

const eventScenario = (name: string, marker?: string, isOfDelivery = false): Scenario => ({
  name,
  run: async ({ orders, client }) => {
    const { workflowId } = await orders.start('withdraw', input('withdraw', name, marker));
    await client.workflow.getHandle(workflowId).result();
    const delivery = deliveryWorkflowId(workflowId);
    await client.workflow.getHandle(delivery).result();
    return isOfDelivery ? delivery : workflowId;
  },
});

/** Orders whose events have a receiver, and the deliveries of two of them. */
export const EVENT_SCENARIOS: Scenario[] = [
  eventScenario('events-plain'),
  eventScenario('events-attention', 'status=unknown-status callback=drop'),
  eventScenario('events-delivered', undefined, true),
  eventScenario('events-delivered-late', 'after_ms=4000', true),
];
