import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { GivenUpError, noteUnsent } from '../../../src/activities/order/create-attempt.js';

function attempt() {
  const stored: unknown[] = [];
  return { stored, unsent: noteUnsent({ confirmAttempt: async (details) => void stored.push(details) }) };
}

test('an attempt that takes long says once that it has not sent', async () => {
  const { stored, unsent } = attempt();
  await sleep(2_200);
  expect(stored).toEqual([{ unsent: true }]);
  await unsent.end();
});

test('one that ends soon says nothing, and none says it after its end', async () => {
  const { stored, unsent } = attempt();
  await unsent.end();
  await sleep(2_200);
  expect(stored).toEqual([]);
});

test('nothing is said later than the end resolves', async () => {
  const stored: unknown[] = [];
  const unsent = noteUnsent({
    confirmAttempt: async (details) => {
      await sleep(500);
      stored.push(details);
    },
  });
  await sleep(2_100);
  await unsent.end();
  expect(stored).toEqual([{ unsent: true }]);
});

test('an attempt whose word may still come does not send', async () => {
  const unsent = noteUnsent({ confirmAttempt: () => Promise.reject(new Error('no answer')) });
  await sleep(2_100);
  await expect(unsent.end()).rejects.toBeInstanceOf(GivenUpError);
});
