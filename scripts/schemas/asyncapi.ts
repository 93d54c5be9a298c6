import { readFileSync } from 'node:fs';
import { EVENT_KINDS } from '../../src/contract/events.js';
import { ORDER_UUID_FORMAT } from '../../src/contract/names.js';
import { idOf, type JsonSchema, publishedSchema } from './json-schema.js';
import { WIRE_TYPES } from './wire-types.js';

const refOf = (name: string): JsonSchema => ({ $ref: `#/components/messages/${name}` });
const ofChannel = (channel: string, name: string): JsonSchema => ({ $ref: `#/channels/${channel}/messages/${name}` });
const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));

/** Headers of Standard Webhooks 1.0. */
const WEBHOOK_HEADERS = {
  type: 'object',
  required: ['webhook-id', 'webhook-timestamp', 'webhook-signature'],
  properties: {
    'webhook-id': { description: 'The same for every copy of the event: <run id>.<sequence>.', type: 'string' },
    'webhook-timestamp': {
      description: 'When it was sent, in seconds since 1970.',
      type: 'string',
      pattern: '^[0-9]{1,12}$',
    },
    'webhook-signature': {
      description: 'One v1,<base64> for each secret, with blanks between them.',
      type: 'string',
      pattern: '^v1,[A-Za-z0-9+/]{43}=( v1,[A-Za-z0-9+/]{43}=)*$',
    },
  },
};

/** Callback of the service as the receiver reads it: an unproven claim about the order of the URL. */
const callbackOf = (required: string[]): JsonSchema => ({
  type: 'object',
  required,
  properties: {
    order_uuid: { type: 'string', pattern: ORDER_UUID_FORMAT.source },
    user_order_id: { type: 'string' },
    status: { type: 'string' },
  },
});

const TOKEN = { description: 'Made by the worker: o. or a., the id, and a MAC over kind, account and id.' };
const ACCOUNT = { description: 'Account of the order.' };

/** Returns the AsyncAPI 3.0 document of the outgoing events and of the callbacks of the service. */
export function asyncApi(): JsonSchema {
  const kinds = [...EVENT_KINDS];
  const messages = kinds.map((kind) => {
    const { $schema: _, ...payload } = publishedSchema(`event.${kind}`, WIRE_TYPES[`event.${kind}`] as never);
    return [kind, { title: kind, contentType: 'application/json', headers: WEBHOOK_HEADERS, payload }];
  });
  const callbacks = {
    orderCallback: { title: 'Callback about an order', payload: callbackOf([]) },
    addressCallback: { title: 'Callback about a receipt on a permanent address', payload: callbackOf(['order_uuid']) },
  };
  const received = Object.keys(callbacks);
  const namesOf = (names: string[]) => Object.fromEntries(names.map((name) => [name, refOf(name)]));
  return {
    asyncapi: '3.0.0',
    id: idOf('asyncapi'),
    info: {
      title: 'Events and callbacks of payment-orders',
      version,
      description:
        'Signed POSTs about orders and batches to the receivers of EVENTS_FILE, and the callbacks of the payment service. Each message comes at least once.',
    },
    defaultContentType: 'application/json',
    channels: {
      events: {
        address: '{receiver}',
        description:
          'One channel for each receiver: its URL in EVENTS_FILE. Answer 2xx within 10 s; anything else is repeated for three days.',
        parameters: { receiver: { description: 'URL of the receiver.' } },
        messages: namesOf(kinds),
      },
      callbacks: {
        address: '/callbacks/{account}/{token}',
        description: 'POST of the payment service to the receiver, with any content type.',
        parameters: { account: ACCOUNT, token: TOKEN },
        messages: namesOf(received),
      },
    },
    operations: {
      sendEvent: {
        action: 'send',
        channel: { $ref: '#/channels/events' },
        messages: kinds.map((kind) => ofChannel('events', kind)),
      },
      receiveCallback: {
        action: 'receive',
        channel: { $ref: '#/channels/callbacks' },
        messages: received.map((name) => ofChannel('callbacks', name)),
      },
    },
    components: { messages: { ...Object.fromEntries(messages), ...callbacks } },
  };
}
