import type { ApplicationFailure } from '@temporalio/common';
import { MockActivityEnvironment } from '@temporalio/testing';
import { DefaultLogger } from '@temporalio/worker';
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import { deliverEventActivity } from '../../../src/activities/events/deliver-event.js';
import { type ReceiverConfig, Secret } from '../../../src/config.js';
import type { OutgoingEvent } from '../../../src/contract/events.js';
import { type Answer, EVENT_SECRET, startEventReceiver, status } from '../../support/event-receiver.js';

const logger = new DefaultLogger('ERROR');

const EVENT: OutgoingEvent = {
  id: '01934f2e-run.2',
  type: 'order.final',
  timestamp: '2026-11-27T10:00:00.000Z',
  data: { account: 'default', sequence: 2, order_id: 'o-1', status: 'completed', amount_to: '12.50' },
};

async function receiver(answer?: Answer) {
  const started = await startEventReceiver('shop', answer);
  onTestFinished(() => void started.close());
  return started;
}

/** Receivers that want no more events, as Temporal would keep them. */
const gone = new Set<string>();
const goneReceivers: Parameters<typeof deliverEventActivity>[1] = {
  isGone: async (name) => gone.has(name),
  end: async (name) => void gone.add(name),
  resume: async (name) => void gone.delete(name),
};
beforeEach(() => gone.clear());

const deliver = (
  config: Partial<ReceiverConfig>,
  event: object = EVENT,
  { to = 'shop', ...more }: { to?: string; byPerson?: true } = {},
): Promise<unknown> => {
  const whole = { name: 'shop', secrets: [new Secret(EVENT_SECRET)], ...config } as ReceiverConfig;
  const activity = deliverEventActivity({ receivers: new Map([['shop', whole]]) }, goneReceivers);
  return new MockActivityEnvironment(undefined, { logger }).run(activity, {
    receiver: to,
    event: event as OutgoingEvent,
    ...more,
  });
};

test('one signed POST of the event, without its id in the body', async () => {
  const { config, received } = await receiver();
  await deliver(config);
  const { id, ...body } = EVENT;
  expect(received).toHaveLength(1);
  expect(received[0]).toMatchObject({
    event: EVENT,
    path: '/hooks',
    headers: { 'webhook-id': id, 'user-agent': 'payment-orders' },
  });
  expect(JSON.parse(received[0]?.body ?? '')).toEqual(body);
});

test('every secret signs, so that the receiver may change its own at any time', async () => {
  const { config, received } = await receiver();
  const newer = new Secret(`whsec_${Buffer.from('another-key-of-32-characters-xyz').toString('base64')}`);
  await deliver({ ...config, secrets: [newer, ...config.secrets] });
  expect(received[0]?.headers['webhook-signature']).toMatch(/^v1,\S{44} v1,\S{44}$/);
});

test.for([200, 201, 299])('%i counts as delivered', async (code) => {
  const { config } = await receiver(status(code));
  await deliver(config);
});

test.for([301, 302, 307, 400, 429, 500, 503])('%i does not, and nothing is sent elsewhere', async (code) => {
  const other = await receiver();
  const { config, received } = await receiver(status(code, { location: `http://127.0.0.1:${other.port}/` }));
  await expect(deliver(config)).rejects.toMatchObject({
    type: 'NotDelivered',
    message: `not delivered: HTTP ${code}`,
    nonRetryable: false,
  });
  expect([received.length, other.received.length]).toEqual([1, 0]);
});

const failureOf = (pending: Promise<unknown>): Promise<ApplicationFailure> =>
  pending.then(
    () => expect.fail('was delivered'),
    (error) => error,
  );

test('410 ends a receiver, which no other order asks again until a person sends', async () => {
  const shop = await receiver(status(410));
  const GONE = { type: 'ReceiverGone', nonRetryable: true, message: expect.stringContaining('HTTP 410') };
  await expect(deliver(shop.config)).rejects.toMatchObject(GONE);
  shop.answer = status(204);
  await expect(deliver(shop.config, { ...EVENT, id: 'another-run.1' })).rejects.toMatchObject(GONE);
  expect(shop.received).toHaveLength(1);
  await deliver(shop.config, EVENT, { byPerson: true });
  await deliver(shop.config, { ...EVENT, id: 'another-run.1' });
  expect(shop.received).toHaveLength(3);
});

test('410 to a test ends nothing', async () => {
  const { config } = await receiver(status(410));
  await expect(deliver(config, { ...EVENT, type: 'test' })).rejects.toMatchObject({ type: 'NotDelivered' });
  await expect(deliver(config)).rejects.toMatchObject({ type: 'ReceiverGone' });
});

test.for<[header: string, least: number, most: number]>([
  ['120', 120_000, 120_000],
  [new Date(Date.now() + 600_000).toUTCString(), 500_000, 600_000],
  ['9999999', 86_400_000, 86_400_000],
])('Retry-After %s holds the next attempt', async ([header, least, most]) => {
  const { config } = await receiver(status(503, { 'retry-after': header }));
  const { nextRetryDelay } = await failureOf(deliver(config));
  expect(nextRetryDelay).toBeGreaterThanOrEqual(least);
  expect(nextRetryDelay).toBeLessThanOrEqual(most);
});

test.for(['', '0', 'soon', '-5', new Date(0).toUTCString()])('Retry-After %j holds nothing', async (header) => {
  const { config } = await receiver(status(429, { 'retry-after': header }));
  const { type, nextRetryDelay } = await failureOf(deliver(config));
  expect([type, nextRetryDelay ?? undefined]).toEqual(['NotDelivered', undefined]);
});

test.for<[what: string, answer: Answer, message: string]>([
  ['an answer that never ends, of too many bytes', (_, response) => void endless(response), 'delivered'],
  ['a connection that is cut', (_, response) => void response.destroy(), 'ECONNRESET'],
  ['a change of protocol', (_, response) => upgrade(response), 'HTTP 101'],
])('%s: %s', async ([, answer, message]) => {
  const { config } = await receiver(answer);
  const said = await deliver(config).then(
    () => 'delivered',
    (error: Error) => error.message,
  );
  expect(said).toContain(message);
});

test('no answer in 10 s is a failure', async () => {
  const { config } = await receiver(() => undefined);
  const startedAtMs = Date.now();
  await expect(deliver(config)).rejects.toThrow('no answer in time');
  expect(Date.now() - startedAtMs).toBeLessThan(13_000);
}, 20_000);

test('a closed port is a failure that names no address', async () => {
  const { config, close } = await receiver();
  await close();
  await expect(deliver(config)).rejects.toThrow(/^not delivered: ECONNREFUSED$/);
});

test.for(['localhost', '127.0.0.1', '[::1]', '[::ffff:127.0.0.1]', '2130706433', '169.254.169.254'])(
  '%s is refused without allowPrivate, before anything is sent',
  async (host) => {
    const { port, received } = await receiver();
    for (const protocol of ['https', 'http']) {
      const url = new Secret(`${protocol}://${host}:${port}/hooks?t=s3cret`);
      await expect(deliver({ url })).rejects.toThrow(/^not delivered: its address is private/);
    }
    expect(received).toEqual([]);
  },
);

test('plain http to a public address is refused, also with allowPrivate', async () => {
  await expect(deliver({ url: new Secret('http://8.8.8.8/'), allowPrivate: true })).rejects.toThrow('in the clear');
});

test.for<[what: string, event: object]>([
  ['another field', { ...EVENT, data: { ...EVENT.data, wallet_to: '4111111111111111' } }],
  ['an unknown kind', { ...EVENT, type: 'order.paid' }],
  ['an id with a line break', { ...EVENT, id: 'a\r\nb' }],
  ['a number as an amount', { ...EVENT, data: { ...EVENT.data, amount_to: 12.5 } }],
  ['a long text', { ...EVENT, data: { ...EVENT.data, reason: 'x'.repeat(201) } }],
])('an event with %s is refused for good and not sent', async ([, event]) => {
  const { config, received } = await receiver();
  await expect(deliver(config, event)).rejects.toMatchObject({ nonRetryable: true });
  expect(received).toEqual([]);
});

test('a worker without that receiver fails, to be repeated by another', async () => {
  const { config } = await receiver();
  await expect(deliver(config, EVENT, { to: 'erp' })).rejects.toMatchObject({ nonRetryable: false });
});

function endless(response: Parameters<Answer>[1]): void {
  response.writeHead(200);
  response.on('error', () => undefined);
  const more = () => {
    while (!response.destroyed && response.write('x'.repeat(16_384)));
    if (!response.destroyed) response.once('drain', more);
  };
  more();
}

function upgrade(response: Parameters<Answer>[1]): void {
  response.socket?.end('HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n');
}
