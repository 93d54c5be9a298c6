import { createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { BatchHandle } from '../../src/client/batch/batch-handle.js';
import { startBatch } from '../../src/client/batch/start-batch.js';
import type { BatchPhase, BatchState } from '../../src/contract/batch/batch.js';
import { accountStopWorkflowId } from '../../src/contract/names.js';
import { input, type Scenario } from './scenarios.js';

const newKey = (): KeyObject => generateKeyPairSync('ed25519').privateKey;

/** Private keys of two persons who may decide and approve, and of nobody. */
const KEYS = { ann: newKey(), bob: newKey(), nobody: newKey() };

/** Writes APPROVERS_FILE for the scenarios below; answers its path. */
export async function writeApprovers(folder: string): Promise<string> {
  const line = (key: KeyObject) => createPublicKey(key).export({ format: 'der', type: 'spki' }).toString('base64');
  const both = ['ann', 'bob'];
  const persons = { ann: [line(KEYS.ann)], bob: [line(KEYS.bob)] };
  const path = join(folder, 'approvers.json');
  const content = { persons, accounts: { default: { decide: both, approve: both } } };
  await writeFile(path, JSON.stringify(content), { mode: 0o600 });
  return path;
}

async function until(batch: BatchHandle, phase: BatchPhase): Promise<BatchState> {
  for (;;) {
    const state = await batch.state();
    if (state.phase === phase) return state;
    await sleep(50);
  }
}

/** On an account of APPROVERS_FILE: what is refused there, and what counts. */
export const SIGNED_SCENARIOS: readonly Scenario[] = [
  {
    name: 'signed-decision',
    run: async ({ orders }) => {
      const started = input('withdraw', 'signed-decision', 'create=503-before', { resend: 'never' });
      const handle = await orders.start('withdraw', started);
      while ((await handle.state()).phase !== 'parked') await sleep(50);
      const { revision } = await handle.state();
      const decision = { action: 'resend', by: 'ann', reason: 'recorded', revision } as const;
      await handle.decide(decision).catch(() => undefined);
      await handle.decide(decision, { signer: KEYS.nobody }).catch(() => undefined);
      await handle.decide(decision, { signer: KEYS.ann });
      await handle.result();
      return handle.workflowId;
    },
  },
  {
    name: 'signed-approvals',
    run: async ({ client }) => {
      const row = { currency: 'usd', network: 'card', amount: '12.50', wallet: '4111111111111111' };
      const rows = [1, 2, 3, 4].map((n) => ({
        ...row,
        order_id: `signed-approvals-${n}`,
        description: '[sandbox after_ms=1500]',
      }));
      const options = { batchId: 'signed-approvals', startedBy: 'ann', approval: 'required', maxInFlight: 2 } as const;
      const batch = await startBatch(client, { ...options, rows });
      const { plan } = await until(batch, 'awaitingApproval');
      const digest = plan?.digest ?? '';
      await batch.approve({ digest, by: 'ann' }, { signer: KEYS.ann });
      await batch.approve({ digest, by: 'ann' }, { signer: KEYS.ann }).catch(() => undefined);
      await batch.approve({ digest, by: 'bob' }, { signer: KEYS.bob });
      await until(batch, 'sending');
      await batch.pause({ by: 'bob', reason: 'recorded' });
      await until(batch, 'paused');
      await batch.resume({ by: 'bob', reason: 'recorded' }).catch(() => undefined);
      await batch.resume({ by: 'bob', reason: 'recorded' }, { signer: KEYS.bob });
      await batch.result();
      return batch.workflowId;
    },
  },
  {
    name: 'signed-stop',
    alone: true,
    run: async ({ orders, client }) => {
      const recorded = { by: 'ann', reason: 'recorded' };
      await orders.accounts.stop('default', recorded).catch(() => undefined);
      await orders.accounts.stop('default', recorded, { signer: KEYS.ann });
      await orders.accounts.resume('default', recorded, { signer: KEYS.ann });
      const stop = client.workflow.getHandle(accountStopWorkflowId('default'));
      await stop.result();
      return stop.workflowId;
    },
  },
];
