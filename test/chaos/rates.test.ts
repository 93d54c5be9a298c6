import { expect, test } from 'vitest';
import { ratesReached } from '../../chaos/rates.js';
import type { CallbackLogEntry, RequestLogEntry } from '../../sandbox/index.js';
import { cleanEvidence, servicePayout } from './evidence.fixture.js';

const HEALED_AT_MS = 60_000;

const create = (fault?: string, atMs = 1_000): RequestLogEntry => ({
  ...{ atMs, path: '/v2/order/withdraw', orderId: 'a', status: fault ? 500 : 200 },
  ...(fault && { fault }),
});
const post = (orderUuid: string, orderStatus: string, status = 200): CallbackLogEntry => ({
  ...{ sentAtMs: 2_000, answeredAtMs: 2_010, orderId: 'a', orderUuid, orderStatus, status },
});

test('the rates reached count what happened under fire, by kind of fault', () => {
  const faults = [
    '500-after',
    '503-after',
    '500-before',
    'no-answer',
    'reset',
    'html',
    '429-after',
    'echo-masked',
    undefined,
  ];
  const lookUps = [undefined, '503', 'echo-blanks', undefined].map((fault) => ({
    ...create(fault),
    path: '/v2/order/status',
  }));
  const requests = [
    ...faults.map((fault) => create(fault)),
    create(),
    ...lookUps,
    create('500-after', HEALED_AT_MS + 1),
  ];
  const [creates, looks] = ratesReached({ ...cleanEvidence(), requests }, 'seed', HEALED_AT_MS);
  expect(creates).toBe(
    'creates 10: 5xx after 20.0 %, 429 after 10.0 %, another form 10.0 %, 5xx before 10.0 %, no answer 10.0 %, reset 10.0 %, garbage 200 10.0 %',
  );
  expect(looks).toBe('look-ups 4: failing 25.0 %');
});

test('lost, repeated and reordered callbacks are told apart', () => {
  const service = ['a', 'b', 'c', 'd'].map((id) => servicePayout(id, '10', '10'));
  const callbacks = [
    ...[1, 2, 3].map(() => post('uuid-a', 'completed')),
    post('uuid-a', 'processing'),
    ...[1, 2, 3].map(() => post('uuid-b', 'completed', 503)),
    ...[1, 2, 3].map(() => post('uuid-c', 'completed')),
    { ...post('uuid-d', 'completed'), sentAtMs: HEALED_AT_MS + 1 },
  ];
  const evidence = { ...cleanEvidence(), service, callbacks };
  expect(ratesReached(evidence, 'seed', HEALED_AT_MS).at(-1)).toBe(
    'callbacks lost 25.0 %; posts 10, 3.0 of each final status, older status after it 1; acknowledged 7',
  );
});
