import { describe, expect, it } from 'vitest';
import { bounded } from '../../src/client/bounded.js';
import { InvalidInputError } from '../../src/client/errors.js';
import { end, payout, useClient } from './client.fixture.js';

const fixture = useClient();

const BAD = [Number.NaN, Number.POSITIVE_INFINITY, 0, -1, '5000', null] as unknown as number[];

const decision = { action: 'accept', by: 'ann', reason: 'looked it up', revision: 3 } as const;

const waits: Record<string, (timeoutMs: number) => Promise<unknown>> = {
  create: (timeoutMs) => fixture.orders.create('withdraw', payout('bad-time'), { timeoutMs }),
  created: (timeoutMs) => fixture.orders.order('bad-time').created({ timeoutMs }),
  final: (timeoutMs) => fixture.orders.order('bad-time').final({ timeoutMs }),
  result: (timeoutMs) => fixture.orders.order('bad-time').result({ timeoutMs }),
  decide: (timeoutMs) => fixture.orders.order('bad-time').decide(decision, { timeoutMs }),
  'result of a batch': (timeoutMs) => fixture.orders.batches.handle('bad-time').result({ timeoutMs }),
  reconcile: (timeoutMs) => fixture.orders.reconcile({ account: 'bad-time' }, { timeoutMs }),
};

describe('a time to wait', () => {
  it.each(Object.entries(waits))('that is none is refused by %s, and nothing is started', async (_name, wait) => {
    for (const timeoutMs of BAD) {
      const refused = await wait(timeoutMs).catch((error: unknown) => error);
      expect(refused, String(timeoutMs)).toBeInstanceOf(InvalidInputError);
      expect(refused).toMatchObject({ fields: [{ field: 'timeoutMs' }] });
    }
    for (const workflowId of ['order:default:bad-time', 'reconcile:bad-time']) {
      const described = fixture.namespace.client.workflow.getHandle(workflowId).describe();
      await expect(described).rejects.toMatchObject({ name: 'WorkflowNotFoundError' });
    }
  });

  it.each(Object.entries(waits))('of a millisecond does not make Temporal unreachable: %s', async (_name, wait) => {
    const error = await wait(1).catch((thrown: unknown) => thrown);
    expect(String(error)).not.toContain('cannot reach Temporal');
  });

  it('that is longer than timers can be waits as long as they can', async () => {
    const timeoutMs = 1e11;
    const { handle } = await fixture.orders.create('withdraw', payout('long-1'), { timeoutMs });
    const result = handle.result({ timeoutMs });
    await end(fixture, 'long-1');
    expect(await result).toMatchObject({ outcome: 'completed' });
  });

  it('of many requests prints no warning', async () => {
    const warnings: Error[] = [];
    const note = (warning: Error) => void warnings.push(warning);
    process.on('warning', note);
    const { client } = fixture.namespace;
    const ask = async () => {
      for (let request = 0; request < 12; request += 1) await client.workflowService.getSystemInfo({});
    };
    await bounded(client, {}, ask, ask);
    await new Promise(setImmediate);
    process.off('warning', note);
    expect(warnings).toEqual([]);
  });

  it('for an account that nobody serves ends soon, and names the account', async () => {
    const refusal = {
      name: 'NoWorkerError',
      message: expect.stringContaining('No worker has served account "shpo"'),
    };
    const reads = [fixture.orders.rates('shpo'), fixture.orders.balances('shpo')];
    await Promise.all(reads.map((read) => expect(read).rejects.toMatchObject(refusal)));
  }, 20_000);
});
