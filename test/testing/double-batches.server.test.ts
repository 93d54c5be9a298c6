import { setTimeout as sleep } from 'node:timers/promises';
import { describe } from 'vitest';
import type { BatchHandle } from '../../src/client/batch/batch-handle.js';
import type { BatchStart } from '../../src/client/batch/batches.js';
import type { BatchPhase } from '../../src/contract/batch/batch.js';
import { cardNumber } from '../support/batch-files.js';
import { type Fate, outcomeOf, useWorlds, type World } from './worlds.fixture.js';

/* Batches of the double and of the library on a server: they must bring the same. */

const { double, agrees } = useWorlds();

const FAILS: Fate = { marker: 'outcome=error', ending: { outcome: 'error' } };
const REJECTED: Fate = { marker: 'create=400', ending: { failure: 'OrderRejected' } };
const SLOW: Fate = { marker: 'after_ms=8000', ending: 'open' };
const UNCERTAIN: Fate = { marker: 'create=500-before', ending: { parked: 'uncertain-create' } };

/** Rows of a batch, one for each fate. */
function batchOf(world: World, id: string, fates: (Fate | undefined)[], more: Partial<BatchStart> = {}): BatchStart {
  const rows = fates.map((fate, index) => {
    const { order } = world.input('withdraw', `${id}-${index + 1}`, fate && { fate });
    return { ...order, wallet: cardNumber(index + 1), reference: `ref-${index + 1}` };
  });
  return { batchId: id, startedBy: 'ann', rows, compensation: 'report', ...more } as BatchStart;
}

async function until(batch: BatchHandle, phase: BatchPhase) {
  for (;;) {
    const state = await batch.state();
    if (state.phase === phase) return state;
    await sleep(100);
  }
}

const bob = { by: 'bob', reason: 'looked at it' };

describe.concurrent('batches of the double are those of a worker:', () => {
  agrees(
    'a batch from its plan to its end',
    {
      plan: { rows: 2, currencies: [{ currency: 'usd', total: '25', feeOnTop: '3' }], warningCount: 0 },
      result: { started: 2, outcomes: { completed: 2 }, moved: { usd: '25' } },
      rows: { rows: [{ row: 1, state: 'completed', reference: 'ref-1' }, { row: 2 }] },
      page: { cursor: '1' },
      again: true,
      other: { error: 'ConflictError' },
    },
    (world) => {
      const input = batchOf(world, 'whole', [undefined, undefined]);
      const handle = world.orders.batches.handle('whole');
      return {
        plan: () => world.orders.batches.plan(input),
        unstarted: () => handle.isOpen(),
        started: async () => (await world.orders.batches.start(input)).attached,
        result: () => handle.result(),
        state: () => handle.state(),
        rows: () => handle.rows(),
        page: () => handle.rows({ limit: 1 }),
        report: () => handle.report(),
        order: () => world.orders.order('whole-1').result(),
        listed: async () =>
          (await world.orders.list({ batchId: 'whole' })).orders.map(({ orderId }) => orderId).toSorted(),
        again: async () => (await world.orders.batches.start(input)).attached,
        other: () => world.orders.batches.start({ ...input, rows: input.rows?.slice(1) } as BatchStart),
        late: () => handle.stop(bob),
        bad: () => world.orders.batches.start({ ...input, batchId: 'bad', rows: [{ amount: 1 }] } as never),
        twice: () => world.orders.batches.plan({ ...input, rows: [...(input.rows ?? []), ...(input.rows ?? [])] }),
        file: () => world.orders.batches.start({ ...input, file: { path: 'a.csv' } } as never),
      };
    },
  );

  agrees(
    'rows that end in other ways',
    { result: { started: 3, outcomes: { completed: 1, error: 1, refused: 1, conflict: 1 } } },
    (world) => {
      const input = batchOf(world, 'ends', [undefined, FAILS, REJECTED, undefined]);
      const handle = world.orders.batches.handle('ends');
      return {
        before: async () => (await world.orders.start('withdraw', world.input('withdraw', 'ends-4'))).result(),
        started: async () => (await world.orders.batches.start(input)).attached,
        result: async () => {
          // The double's plans warn of nothing.
          const { plan: _, ...result } = await handle.result();
          return result;
        },
        rows: async () => (await handle.rows()).rows.map(({ row, state }) => ({ row, state })),
      };
    },
  );

  agrees(
    'a batch that needs an approval',
    {
      parked: { outcome: 'parked', state: { phase: 'awaitingApproval', attentionCode: 'approval' } },
      own: { error: 'RefusedError' },
      digest: { error: 'RefusedError' },
      result: { outcomes: { completed: 1 } },
      late: { error: 'RefusedError' },
    },
    (world) => {
      const input = batchOf(world, 'approved', [undefined], { approval: 'required' });
      const handle = world.orders.batches.handle('approved');
      const digest = async () => (await until(handle, 'awaitingApproval')).plan?.digest ?? '';
      return {
        started: async () => (await world.orders.batches.start(input)).attached,
        parked: () => handle.result({ until: 'parked' }),
        notYet: () => handle.result({ timeoutMs: 300 }),
        report: () => handle.report(),
        pause: () => handle.pause(bob),
        own: async () => handle.approve({ digest: await digest(), by: 'Ann' }),
        digest: () => handle.approve({ digest: '0'.repeat(64), by: 'bob' }),
        nobody: async () => handle.approve({ digest: await digest(), by: '' }),
        resume: () => handle.resume(bob),
        approve: async () => handle.approve({ digest: await digest(), by: 'bob' }),
        result: () => handle.result(),
        late: () => handle.approve({ digest: '0'.repeat(64), by: 'bob' }),
      };
    },
  );

  agrees(
    'a batch that is stopped before it pays',
    { result: { started: 0, outcomes: { notStarted: 2 }, stopped: { by: 'bob' } } },
    (world) => {
      const input = batchOf(world, 'stopped', [undefined, undefined], { approval: 'required' });
      const handle = world.orders.batches.handle('stopped');
      return {
        started: async () => (await world.orders.batches.start(input)).attached,
        waiting: async () => (await until(handle, 'awaitingApproval')).choices.map(({ update }) => update),
        stop: () => handle.stop(bob),
        result: () => handle.result(),
        rows: () => handle.rows(),
      };
    },
  );

  agrees(
    'a pause while a row is open',
    {
      state: { phase: 'paused', paused: { by: 'bob' }, progress: { taken: 1 } },
      twice: { error: 'RefusedError' },
      result: { outcomes: { completed: 2 } },
    },
    (world) => {
      const input = batchOf(world, 'pause', [SLOW, undefined], { maxInFlight: 1 });
      const handle = world.orders.batches.handle('pause');
      return {
        started: async () => {
          await world.orders.batches.start(input);
          while ((await handle.state()).progress.open.length === 0) await sleep(100);
        },
        pause: () => handle.pause(bob),
        twice: () => handle.pause(bob),
        state: () => until(handle, 'paused'),
        resume: () => handle.resume(bob),
        notPaused: () => handle.resume(bob),
        result: async () => {
          double.controls.ends('pause-1', { outcome: 'completed' });
          return handle.result();
        },
      };
    },
  );

  agrees(
    'a row that waits for a person',
    {
      result: { outcomes: { completed: 1, parked: 1 } },
      decided: { outcome: 'completed' },
    },
    (world) => {
      const input = batchOf(world, 'waits', [UNCERTAIN, undefined], { maxInFlight: 1, resend: 'never' });
      const handle = world.orders.batches.handle('waits');
      return {
        started: async () => {
          const large = { ...input, approval: 'required' } as const;
          return (await world.orders.batches.start(large)).attached;
        },
        approved: async () => {
          const digest = (await until(handle, 'awaitingApproval')).plan?.digest ?? '';
          await handle.approve({ digest, by: 'bob' });
        },
        result: () => handle.result(),
        decided: async () => {
          const order = world.orders.order('waits-1');
          const { revision } = await order.state();
          await order.decide({ action: 'resend', ...bob, revision });
          return order.result();
        },
      };
    },
  );

  agrees('no worker answers', { plan: { error: 'NoWorkerError' } }, (world) => ({
    plan: () =>
      outcomeOf(() => world.withoutWorker().batches.plan(batchOf(world, 'nobody', [undefined]), { timeoutMs: 10_000 })),
  }));
});
