import { setTimeout as sleep } from 'node:timers/promises';
import { exitOnFailure } from '../../src/process.js';

/** A process with a bug: a promise that nobody waits for fails with a wallet in its words. */
await exitOnFailure(async () => {
  void Promise.reject(new TypeError('cannot pay 4111111111111111'));
  await sleep(60_000);
});
