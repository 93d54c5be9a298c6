import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { ATTACKS, type AttackName } from '../../bench/receiver-attacks/attacks.js';
import { findNginx, startNginx } from '../../bench/receiver-attacks/nginx.js';
import { besiege, TOKEN_KEY } from '../../bench/receiver-attacks/siege.js';
import { receiverEnv, startProcess, temporalEnv, useProcesses } from '../worker/process.fixture.js';

/** What has to hold for genuine callbacks, whatever else comes. */
const MIN_ANSWERED_SHARE = 0.99;
/** The bench holds it to a second on a quiet machine; here others may be at work, and before the mends it was 4 to 10 s. */
const MAX_P99_MS = 3_000;
/** A leaked URL whose senders hold back the last byte of a large body: without nginx answers wait for 4 to 6 s (docs/plan.md). */
const MAX_P99_LEAKED_SLOW_MS = 10_000;
const MAX_RSS_MIB = 256;

const [SECONDS, PER_SECOND] = [5, 20];

const attacks = Object.keys(ATTACKS) as AttackName[];

const temporal = useProcesses();

/** A receiver process of its own, so that memory and allowances are of one attack alone. */
async function startReceiver(): Promise<{ url: string; pid: number }> {
  const receiver = startProcess('src/receiver.ts', {
    ...receiverEnv(temporalEnv(temporal), 0),
    CALLBACK_TOKEN_KEY: TOKEN_KEY,
  });
  onTestFinished(() => receiver.kill('SIGKILL'));
  const { receiver: url = '' } = await receiver.ready;
  return { url, pid: receiver.pid };
}

async function expectServed(name: AttackName, url: string, receiverPid: number, maxP99Ms = MAX_P99_MS): Promise<void> {
  const siege = { name, url, receiverPid, seconds: SECONDS, perSecond: PER_SECOND };
  const { sent, answered, p99Ms, peakRssMiB, opened } = await besiege(temporal.client, siege);
  if (name !== 'none') expect(opened).toBeGreaterThanOrEqual(ATTACKS[name].sockets);
  expect(sent).toBe(SECONDS * PER_SECOND);
  expect(answered / sent).toBeGreaterThanOrEqual(MIN_ANSWERED_SHARE);
  expect(p99Ms).toBeLessThan(maxP99Ms);
  expect(peakRssMiB).toBeLessThan(MAX_RSS_MIB);
}

describe('genuine callbacks are answered in time', () => {
  test.each(attacks)('under the attack: %s', async (name) => {
    const { url, pid } = await startReceiver();
    await expectServed(name, url, pid, name === 'leaked-slow' ? MAX_P99_LEAKED_SLOW_MS : MAX_P99_MS);
  });

  test.skipIf(findNginx() === undefined).each(attacks)('behind nginx under the attack: %s', async (name) => {
    const { url, pid } = await startReceiver();
    const folder = await mkdtemp(join(tmpdir(), 'payment-orders-nginx-'));
    const nginx = await startNginx(folder, url);
    onTestFinished(async () => {
      await nginx.stop();
      await rm(folder, { recursive: true, force: true });
    });
    await expectServed(name, nginx.url, pid);
  });
});
