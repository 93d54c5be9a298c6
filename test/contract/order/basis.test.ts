import { describe, expect, it, test } from 'vitest';
import { BASIS_FIELDS, basisDifferences, basisOf } from '../../../src/contract/order/basis.js';
import { change } from '../../workflows/compensation/cases.fixture.js';
import { orderFor, REQUESTS } from '../inputs.fixture.js';

const order = orderFor('withdraw', REQUESTS.withdraw, { status: 'completed_partially', amount_to: '15.5' });
const reading = { order, changes: [change('usd', '-16.5')], disagreements: [] };

describe('what a follow-up was made for', () => {
  it('holds while money is as it was, whatever else changes, also read back from a history', () => {
    const basis = JSON.parse(JSON.stringify(basisOf(reading)));
    const touched = { ...order, updated_at: '2027-01-01 00:00:00', description: 'touched' };
    expect(basisDifferences(basis, { ...reading, order: touched })).toEqual([]);
  });

  test.for(BASIS_FIELDS)('does not hold with another %s', (field) => {
    const other = { ...reading, order: { ...order, [field]: '7' } };
    expect(basisDifferences(basisOf(reading), other)).toEqual([field]);
  });

  it('does not hold with other balance changes, nor where the two views of the order differ', () => {
    const more = { ...reading, changes: [...reading.changes, change('usd', '-9')] };
    expect(basisDifferences(basisOf(reading), more)).toEqual(['balance_changes']);
    const unclear = { ...reading, disagreements: ['status operation and order list differ in amount_to'] };
    expect(basisDifferences(basisOf(reading), unclear)).toEqual(unclear.disagreements);
  });
});
