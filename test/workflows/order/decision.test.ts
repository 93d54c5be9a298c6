import { expect, test } from 'vitest';
import { decimal } from '../../../src/contract/money.js';
import { REFUND } from '../../../src/workflows/compensation/moves.js';
import { openFacts } from '../../../src/workflows/create/facts.js';
import { attentionNow, decisionsOf, refusal } from '../../../src/workflows/order/decision.js';
import type { OrderRun } from '../../../src/workflows/order/state.js';

/** A run that waits for a person to say where a refund goes. */
const RUN = {
  revision: 1,
  attention: { reason: 'something is left', since: '', allowed: ['revert'] },
  facts: { cancelled: false },
  parked: {
    offers: [{ move: REFUND, amount: decimal('5'), currency: 'usd', names: { field: 'revertTo', required: true } }],
    candidates: [],
  },
} as unknown as OrderRun;

test.each([
  ['with amount', { amount: '686.04', currency: 'usd' }],
  ['of what could not be estimated', { currency: 'usd' }],
  ['of an account', {}],
])('an approval %s names exactly what is shown', (_, shown) => {
  const run = {
    revision: 1,
    attention: { reason: 'above', since: '', allowed: ['approve'], ...shown },
    parked: {},
    facts: {},
  };
  const approve = { action: 'approve', by: 'ann', reason: 'meant', revision: 1 };
  const refused = (fields: object) => refusal(run as unknown as OrderRun, { ...approve, ...fields });
  expect(refused(shown)).toBeUndefined();
  for (const other of [
    { amount: '686.05', currency: 'usd' },
    { amount: 686.04, currency: 'usd' },
    { currency: 'eur' },
  ]) {
    expect(refused(other)).toContain('approve needs exactly what is shown');
  }
});

test('a send that is over is neither offered nor taken, and the refusal says what to do', () => {
  const of = (latestSend?: string) =>
    ({
      ...RUN,
      facts: openFacts('never', true),
      attention: {
        code: 'uncertain-create',
        reason: 'unclear',
        since: '',
        allowed: ['resend', 'close-absent', 'adopt'],
      },
      input: { latestSend },
    }) as unknown as OrderRun;
  const resend = { action: 'resend', by: 'ann', reason: 'still wanted', revision: 1 };
  const offered = (run: OrderRun) => decisionsOf(run, 'r').map(({ decision: { action } }) => action);
  for (const run of [of(), of('2999-01-01T00:00:00Z')]) {
    expect(offered(run)).toEqual(['resend', 'close-absent', 'adopt']);
    expect(refusal(run, resend)).toBeUndefined();
  }
  const over = of('2026-01-31T14:00:00+02:00');
  expect(offered(over)).toEqual(['close-absent', 'adopt']);
  expect(attentionNow(over)?.allowed).toEqual(['close-absent', 'adopt']);
  expect(refusal(over, resend)).toMatch(
    /allowed now: close-absent, adopt\. Latest send: 2026-01-31 12:00:00 UTC\. Later, nothing is sent.*`--again`/,
  );
});

test('an adoption says what happens to what was paid too much', () => {
  const run = {
    ...RUN,
    attention: { code: 'conflict', reason: 'differs', since: '', allowed: ['adopt'] },
    parked: { offers: [], candidates: [{ order_uuid: 'u', differences: ['amount'] }] },
  } as unknown as OrderRun;
  expect(decisionsOf(run, 'r')[0]?.does).toContain('ask the payee for what was paid too much');
});

test('a refund names where it goes, and nothing else', () => {
  const decision = { action: 'revert', by: 'ann', reason: 'left', revision: 1 };
  for (const revertTo of [undefined, 'T1', { network: 'tron', wallet: 'T1', amount: '1' }]) {
    expect(refusal(RUN, { ...decision, revertTo })).toContain('revertTo must be {network, wallet,');
  }
  expect(refusal(RUN, { ...decision, revertTo: { network: 'tron', wallet: 'T1' } })).toBeUndefined();
});

test('a field that is given twice, or is unknown, is named before anything else', () => {
  const run = { ...RUN, attention: undefined } as unknown as OrderRun;
  for (const action of ['revert', 'constructor', undefined]) {
    expect(refusal(run, { action, 'by (given twice)': 'ann' })).toContain('does not take by (given twice)');
    expect(refusal(RUN, { action, 'by (given twice)': 'ann' })).toContain('does not take by (given twice)');
  }
});
