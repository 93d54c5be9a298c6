import { expect, test } from 'vitest';
import { Limiter } from '../../../src/payment-service/limiter.js';
import { activitiesFor } from '../activity-lab.fixture.js';

test('a read that gets no turn in time is no fault of the service: the worker answers with the place in its line', async () => {
  const limiter = new Limiter(0.05);
  // The turn that is free goes to somebody else; the next one comes later than a request may wait.
  await limiter.turn('look-up');
  const run = await activitiesFor({ baseUrl: 'http://127.0.0.1:1' }, { limiter });
  expect(await run('whySilent', { account: 'default', orderId: 'o-1' })).toEqual({
    code: 'service-silent',
    turn: { before: 0, aboutMs: 20_000, requestsPerSecond: expect.closeTo(0.05) },
  });
});

test('a service that cannot be reached is down, also behind a limit', async () => {
  const run = await activitiesFor({ baseUrl: 'http://127.0.0.1:1' }, { limiter: new Limiter(50) });
  expect(await run('whySilent', { account: 'default', orderId: 'o-1' })).toMatchObject({ code: 'service-down' });
});
