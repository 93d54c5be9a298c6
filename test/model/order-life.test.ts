import fc from 'fast-check';
import { afterAll, beforeAll, describe, test, vi } from 'vitest';
import { type Lab, openLab } from '../support/lab.js';
import { commands } from './commands.fixture.js';
import type { Model, Real } from './model.fixture.js';
import { SETTLE_WINDOW_MS } from './plans.fixture.js';
import { healAndOperate, verify } from './verdicts.fixture.js';

/** `MODEL_RUNS=60 npx vitest run test/model` runs for minutes, with resets that cost one each. */
const RUNS = Number(process.env.MODEL_RUNS ?? 0);
const SEED = Number(process.env.MODEL_SEED ?? Date.now() % 1_000_000);
const PATIENT = RUNS > 0;
const LABS = [0, 1, 2];
const RUNS_PER_LAB = Math.max(1, Math.ceil(RUNS / LABS.length));

/**
 * Seldom needed: a create that Temporal gave to a worker which just ended is given up after 60 s, and a run cut from one
 * that may have a create on its way counts absence only after that one's 60 s.
 */
const END_LIMIT_MS = 200_000;

// Orders wait most of the time: runs side by side, each on a lab of its own.
vi.setConfig({ maxConcurrency: LABS.length });

let labs: Lab[];
beforeAll(async () => {
  const balances = Object.fromEntries(['usd', 'btc', 'usdt'].map((currency) => [currency, '1000000000']));
  const options = {
    groups: true,
    pace: { settleWindowMs: SETTLE_WINDOW_MS },
    sandbox: { settings: { balances, overdraft: true } },
  };
  labs = await Promise.all(LABS.map(() => openLab(options)));
});
afterAll(() => Promise.all((labs ?? []).map((lab) => lab.close())));

describe.concurrent(`the life of orders under random commands (MODEL_SEED=${SEED})`, () => {
  test.for(LABS)(
    'never paid twice, never lost, never more than was left, and none open without a reason (%i)',
    { timeout: RUNS_PER_LAB * 300_000 },
    async (n) => {
      const lab = labs[n] as Lab;
      let run = 0;
      const property = fc.asyncProperty(commands({ patient: PATIENT }), async (sequence) => {
        run += 1;
        const model: Model = new Map();
        const real: Real = { lab, prefix: `model-${run}-`, leaving: [] };
        await fc.asyncModelRun(() => ({ model, real }), sequence);
        await healAndOperate(model, real, END_LIMIT_MS);
        await verify(model, real);
      });
      // Real time and real processes: a failing sequence does not fail every time, so shrinking would mislead.
      const { failed, errorInstance, counterexample } = await fc.check(property, {
        seed: SEED + n,
        // Small values first would be the same few plans again and again.
        unbiased: true,
        numRuns: RUNS_PER_LAB,
        endOnFailure: true,
        verbose: PATIENT ? 1 : 0,
      });
      // Its own words first, which the end of CI's output shows.
      if (failed) throw new Error(`${errorInstance}\nafter ${counterexample}`, { cause: errorInstance });
    },
  );
});
