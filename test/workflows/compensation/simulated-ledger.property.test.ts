import Big from 'big.js';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { failedChecks } from '../../../src/workflows/compensation/checks.js';
import { figures } from '../../../src/workflows/compensation/figures.js';
import { type World, worked, worlds } from './simulated-ledger.fixture.js';

const RUNS = 20_000;

/** Works a world; the figures are undefined where a person is asked. */
function judged(world: World) {
  const { c, truth, honest } = worked(world);
  const left = figures(c);
  const doubts = failedChecks(c, left);
  return { c, truth, honest, doubts, left: doubts.length === 0 ? left : undefined };
}

describe('figures against a ledger that knows what truly happened', () => {
  it('never say that more is left than the ledger has left, and the same where nothing is misstated', () => {
    const believed = new Map<string, number>();
    fc.assert(
      fc.property(worlds, (world) => {
        const { c, truth, honest, left } = judged(world);
        if (!left) return;
        believed.set(c.type, (believed.get(c.type) ?? 0) + 1);
        for (const side of ['unexchanged', 'unpaid'] as const) {
          const said = left[side] ?? new Big(0);
          expect(said.minus(truth[side]).toNumber(), side).toBeLessThanOrEqual(0);
          if (honest) expect(said.eq(truth[side]), side).toBe(true);
        }
      }),
      { numRuns: RUNS },
    );
    // Silence about every order would pass, too.
    for (const type of ['deposit_exchange', 'deposit_exchange_withdraw', 'exchange', 'exchange_withdraw', 'withdraw'])
      expect(believed.get(type), type).toBeGreaterThan(RUNS / 200);
  });

  it('ask a person about every commission that is shown but was not withheld, or was withheld in another amount', () => {
    let misstated = 0;
    fc.assert(
      fc.property(worlds, (world) => {
        const { c, truth, doubts } = judged(world);
        // A withheld deposit commission that is not shown counts as exchanged: less is left, never more.
        const sides = truth.misstated.filter((side) => side === 'to' || c.order.amount_from_fee !== null);
        fc.pre(sides.length > 0 && c.changes.length > 0);
        misstated += 1;
        expect(doubts).not.toEqual([]);
      }),
      { numRuns: RUNS / 4 },
    );
    expect(misstated).toBeGreaterThan(RUNS / 8);
  });
});
