import { describe, test, vi } from 'vitest';
import { useLab } from '../support/lab.js';
import { behindCanary, behindDecision, behindUnsent, CANARY, firstSendsLab } from './first-sends.fixture.js';

/* Creates answer 503 for 3.5 windows, look-ups work, and 27 payouts start meanwhile. */

vi.setConfig({ testTimeout: 240_000 });

const OUTAGE = { count: 27, windowMs: 10_000, windows: 3.5 };

/** Persons are asked many windows after the outage. */
const LONG_WAIT = { ...OUTAGE, windowMs: 6_000 };

// One after the other: payouts in doubt that wait keep a small machine busy where windows are this short.
describe('after an outage of creates', () => {
  describe('with an unsent order behind them', () => {
    const lab = useLab(firstSendsLab(OUTAGE.windowMs));
    test('all payouts complete, and nobody is asked', () => behindUnsent(lab, OUTAGE));
  });

  describe('with the canary', () => {
    const lab = useLab(firstSendsLab(OUTAGE.windowMs, { account: { canary: CANARY } }));
    test('all payouts complete, and nobody is asked', () => behindCanary(lab, OUTAGE));
  });

  describe('without both', () => {
    const lab = useLab(firstSendsLab(LONG_WAIT.windowMs));
    test('one decision completes all', () => behindDecision(lab, LONG_WAIT));
  });
});
