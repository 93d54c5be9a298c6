import { describe, expect, test } from 'vitest';
import type { BatchInput, BatchPlan } from '../../src/contract/batch/batch.js';
import type { FieldError } from '../../src/contract/failures.js';
import { validateBatchInput } from '../../src/validation/batch-input.js';
import { validateOrderInput } from '../../src/validation/order-input.js';
import { openActivities } from '../activities/activity-lab.fixture.js';
import { folderWith, newFolder, PAYOUT_HEADER } from '../support/batch-files.js';

const CARD = '4111111111111111';

/** Plans these rows; answers the plan, or what is wrong with each line. */
async function planned(input: Partial<BatchInput>, batchDir = newFolder()): Promise<BatchPlan | FieldError[]> {
  // Without rates every pair may be planned.
  const { run } = await openActivities(
    { faults: { 'rates.503': 1 } },
    { directories: { batchDir, reportDir: newFolder() } },
  );
  const planning = run('planBatch', { account: 'default', input: { startedBy: 'ann', ...input } });
  return planning.catch((error: { details?: [FieldError[]] }) => {
    const [summary, ...errors] = error.details?.[0] ?? [];
    if (!summary) throw error;
    return errors;
  });
}

const planFile = (content: string | Uint8Array, name = 'rows.csv') =>
  planned({ file: { path: name } }, folderWith(name, content));

const XRP = { currency: 'xrp', network: 'ripple', amount: '20', wallet: 'rN7n7otQDd6FczFgLdSqtcsAUxDkw6fzRH' };
const SEPA = { currency: 'eur', network: 'sepa', amount: '20', wallet: 'DE89370400440532013000' };
const sepaTo = (recipient_name: string) => ({
  ...SEPA,
  wallet_details: { recipient_email: 'a@example.com', recipient_name },
});

/** [what, fields of the row, path of the field that is damaged] */
const DAMAGED: [what: string, row: object, field: string][] = [
  ['a rounded memo', { ...XRP, wallet_memo: '1.04653E+08' }, 'wallet_memo'],
  ['a memo with an exponent and no sign', { ...XRP, wallet_memo: '1,04653e8' }, 'wallet_memo'],
  ['commas between thousands', { ...XRP, wallet_memo: '104,653,012' }, 'wallet_memo'],
  ['Indian grouping', { ...XRP, wallet_memo: '10,46,53,012' }, 'wallet_memo'],
  ['points between thousands', { ...XRP, wallet_memo: '104.653.012' }, 'wallet_memo'],
  ['an error word of another language', { ...XRP, wallet_memo: '#BEZUG!' }, 'wallet_memo'],
  ['an error word of another program', { ...XRP, wallet_memo: 'Err:502' }, 'wallet_memo'],
  ['a null of a database dump', { ...XRP, wallet_memo: '\\N' }, 'wallet_memo'],
  ['an object that became text', sepaTo('[object Object]'), 'wallet_details.recipient_name'],
  ['an error word as a name', sepaTo('#REF!'), 'wallet_details.recipient_name'],
  ['a formula as a name', sepaTo('=A1&" "&B1'), 'wallet_details.recipient_name'],
  ['a number as an id', { ...SEPA, order_id: '20261127.00' }, 'order_id'],
  ['a rounded card', { ...SEPA, network: 'card', wallet: '4.11111E+15' }, 'wallet'],
  ['an apostrophe before a card', { ...SEPA, network: 'card', wallet: `'${CARD}` }, 'wallet'],
  ['an amount as a formula', { ...SEPA, amount: '=1+1' }, 'amount'],
  [
    'a card in a list',
    {
      ...SEPA,
      network: 'multiple_cards',
      wallet: '-',
      amount: '20',
      wallet_details: [{ amount: '20', wallet: '4111111111111111.0' }],
    },
    'wallet_details[0].wallet',
  ],
];

describe('damage by spreadsheets and exports', () => {
  test.for(DAMAGED)('%s is refused, named once', async ([, row, field]) => {
    const order = { order_id: 'a', ...row };
    const reason = expect.stringMatching(/spreadsheet|reads as|error value/);
    expect(await planFile(`${JSON.stringify(order)}\n`, 'rows.ndjson')).toEqual([
      { field: `line 1: order.${field}`, reason },
    ]);
  });

  const order = { order_id: 'a', currency: 'usd', network: 'card', amount: '20', wallet: CARD };

  test('is refused in rows given without a file', () => {
    const reason = expect.stringMatching(/"\.0"/);
    const rows = [{ ...order, order_id: '1001.0' }];
    expect(validateBatchInput({ rows, startedBy: 'ann' })).toEqual({ errors: [{ field: 'rows[0].order_id', reason }] });
  });

  test.for<[what: string, field: string, row: object]>([
    ['an id that ends in .0', 'order_id', { order_id: '1001.0' }],
    ['a memo that is no value', 'wallet_memo', { ...XRP, wallet_memo: 'nan' }],
    ['a tag with .0', 'wallet_memo', { ...XRP, wallet_memo: '104653012.0' }],
    ['a name that is no value', 'wallet_details.recipient_name', sepaTo('nan')],
    ['a name that is TRUE', 'wallet_details.recipient_name', sepaTo('TRUE')],
    ['a name that is an IBAN', 'wallet_details.recipient_name', sepaTo('DE89370400440532013000')],
    ['a name that is an e-mail address', 'wallet_details.recipient_name', sepaTo('anna@example.com')],
  ])('%s is refused in a single order, too', ([, field, row]) => {
    const checked = validateOrderInput('withdraw', { order: { ...order, ...row } }, { formatChecks: 'warn' });
    expect(checked).toEqual({ errors: [{ field: `order.${field}`, reason: expect.stringMatching(/^reads as/) }] });
  });

  test.for<[what: string, row: object]>([
    ['an id that ends in .0 and is no number', { order_id: 'a.0' }],
    ['an id of digits and points', { order_id: '2026.11.001' }],
    ['an id that holds the word null', { order_id: 'null-1' }],
    ['a name with a surname that programs know', sepaTo('Christopher Null')],
    ['a short name', sepaTo('Na')],
    ['a name that begins with an apostrophe', sepaTo("'t Hooft")],
    ['a memo with words', { ...XRP, network: 'stellar', wallet_memo: 'invoice 104, part 2' }],
    ['an account of three numbers', { ...XRP, network: 'hedera', wallet: '0.0.123456' }],
    ['a description of any kind', { description: '=) nan' }],
    ['a description that is a dash', { description: '-' }],
  ])('%s is planned', async ([, row]) => {
    expect(await planFile(`${JSON.stringify({ ...order, ...row })}\n`, 'rows.ndjson')).toMatchObject({ rows: 1 });
  });

  test('digits cut from two memos and a 19-digit card are one warning a field, with the lines', async () => {
    const cut = { ...XRP, network: 'stellar', wallet: 'GA' };
    const rows = [
      { ...cut, order_id: 'a', wallet_memo: '1234567890123460000' },
      { ...cut, order_id: 'b', wallet_memo: '1234567890123461111' },
      { ...cut, order_id: 'c', amount: '21', wallet_memo: '9234567890123450' },
      { ...order, order_id: 'd', wallet: '6304000000000180000' },
    ];
    const { warnings } = (await planFile(
      rows.map((row) => JSON.stringify(row)).join('\n'),
      'rows.ndjson',
    )) as BatchPlan;
    const about = warnings.filter(({ reason }) => reason.includes('15 digits'));
    expect(about).toEqual([
      { rows: [1, 3], reason: expect.stringMatching(/^order\.wallet_memo: .*; sent all the same$/) },
      { rows: [4], reason: expect.stringMatching(/^order\.wallet: has only zeros/) },
    ]);
  });

  test('no reason shows a cell', async () => {
    const lines = [`a,usd,card,1,${CARD}.0`, `${CARD}.0,usd,card,1,'${CARD}`, `b,usd,card,=${CARD},=${CARD}`];
    const errors = await planFile([PAYOUT_HEADER, ...lines, ''].join('\n'));
    expect(errors).toHaveLength(5);
    expect(JSON.stringify(errors)).not.toContain(CARD);
  });
});

describe('ids of one file that exports write in two ways', () => {
  test.for<[what: string, ids: string[], lines: number[][]]>([
    ['leading zeros', ['0007', '7'], [[1, 2]]],
    ['leading zeros behind words', ['INV-007', 'INV-8', 'inv-7'], [[1, 3]]],
    ['case, three times', ['ab-1', 'AB-1', 'Ab-1'], [[1, 2, 3]]],
    ['another number', ['INV-70', 'INV-7', 'INV-700'], []],
    ['decimals of a version', ['v1.05', 'v1.5'], []],
  ])('%s', async ([, ids, lines]) => {
    const rows = ids.map((order_id, index) => ({ ...SEPA, order_id, amount: `${index + 20}` }));
    const plan = (await planned({ rows })) as BatchPlan;
    expect(
      plan.warnings.filter(({ reason }) => /these ids differ only/.test(reason)).map(({ rows: found }) => found),
    ).toEqual(lines);
  });

  test.for<[what: string, ids: string[], lines: number[][]]>([
    ['a date', ['DEC-1', 'x', '1-Dec'], [[1, 3]]],
    ['a date, twice damaged', ['1-Dec', '01-12-2026'], [[1, 2]]],
    ['a serial number', ['MAR26', '46107'], [[1, 2]]],
    ['a month', ['Mar-26', 'MAR26'], [[1, 2]]],
    ['an exponent', ['73928e05', '7392800000'], [[1, 2]]],
    ['a time', ['2:30', '02:30:00'], [[1, 2]]],
    ['digits beyond 15', ['1234567890123456789', '1234567890123450000'], [[1, 2]]],
    ['long numbers of one kind', ['1234567890123456789', '1234567890123456788'], []],
    ['dates of one kind', ['01-03-2026', '03-01-2026', '04-01-2026'], []],
    ['numbers with a dash', ['7-12', '12-7', '7-1'], []],
    ['serial numbers of one day in two years', ['46357', '46722'], []],
    ['names of one kind', ['DEC-1', 'DEC-2', 'MAR26', 'MAR1', 'MAY-1'], []],
  ])('as a spreadsheet reads %s', async ([, ids, lines]) => {
    const rows = ids.map((order_id, index) => ({ ...SEPA, order_id, amount: `${index + 20}` }));
    const plan = (await planned({ rows })) as BatchPlan;
    const found = plan.warnings.filter(({ reason }) => /^a spreadsheet reads these ids as one/.test(reason));
    expect(found.map(({ rows: of }) => of)).toEqual(lines);
  });

  test.for<[id: string, isWarned: boolean]>([
    ['1-Dec', true],
    ['26-mars', true],
    ['Sep-2026', true],
    ['1-Dec-26', true],
    ['2026-12-01', true],
    ['05.03.5458', true],
    ['12:05:00', true],
    ['12000', true],
    ['12345678901234500', true],
    ['DEC-1', false],
    ['MAR26', false],
    ['7-12', false],
    ['13-13-2026', false],
    ['Inv-26', false],
    ['payroll-2026-11-27-1000', false],
    ['1000', false],
    ['46357', false],
    ['73928e05', false],
  ])('%s reads as if a spreadsheet wrote it: %s', async ([order_id, isWarned]) => {
    const plan = (await planned({ rows: [{ ...SEPA, order_id }] })) as BatchPlan;
    expect(plan.warnings.filter(({ reason }) => /that a spreadsheet wrote/.test(reason)).length).toBe(isWarned ? 1 : 0);
  });
});
