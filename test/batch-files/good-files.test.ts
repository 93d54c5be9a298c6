import { describe, expect, test } from 'vitest';
import { orderInputOf, readBatchSource } from '../../src/batch-files/source.js';
import { validateOrderInput } from '../../src/validation/order-input.js';
import { PAYOUT_HEADER } from '../support/batch-files.js';
import { opened, read } from './files.fixture.js';

const payout = { order_id: 'p-1', currency: 'usd', network: 'card', amount: '10.50', wallet: '4111111111111111' };
const CELLS = Object.values(payout).join(',');

describe('a CSV file', () => {
  test.for<[how: string, content: string]>([
    ['without a line end at its end', `${PAYOUT_HEADER}\n${CELLS}`],
    ['with empty lines at its end', `${PAYOUT_HEADER}\n${CELLS}\n\r\n\n`],
    ['with empty rows at its end', `${PAYOUT_HEADER}\n${CELLS}\n,,,,\n"","","","",""\n \u00a0,,,,\n`],
    ['with blanks around the names of its header', `${PAYOUT_HEADER.replaceAll(',', ' , ')}\n${CELLS}\n`],
  ])('%s is read', async ([, content]) => {
    expect(await read(content)).toEqual([expect.objectContaining({ row: 1, line: 2, order: payout })]);
  });

  test('builds nested fields from columns of their own', async () => {
    const [row] = await read(
      [
        `${PAYOUT_HEADER},wallet_details.recipient_name,wallet_details.recipient_email,client_info.client_id,delay_order_for_minutes`,
        'a,eur,sepa,10,DE89370400440532013000,"O\'Neill, Ann ""Annie""",ann@example.com,c-7,90',
      ].join('\n'),
    );
    expect(row?.order).toMatchObject({
      wallet_details: { recipient_name: 'O\'Neill, Ann "Annie"', recipient_email: 'ann@example.com' },
      client_info: { client_id: 'c-7' },
      delay_order_for_minutes: 90,
    });
  });

  test.for<[network: string, columns: string, cells: string]>([
    ['card', '', ''],
    ['bank', ',wallet_details.bank_code', ',12345'],
    [
      'bank_ua',
      ',wallet_details.recipient_bank,wallet_details.recipient_name,wallet_details.taxpayer_number',
      ',Bank,Name,12345678',
    ],
    ['sepa', ',wallet_details.recipient_name,wallet_details.recipient_email', ',Name,a@example.com'],
    ['multiple_cards', ',wallet_details', ',"[{""amount"":""10"",""wallet"":""4111111111111111""}]"'],
  ])('holds valid payouts of network %s', async ([network, columns, cells]) => {
    const wallets: Record<string, string> = {
      card: '4111111111111111',
      bank: 'any-account',
      bank_ua: 'UA213223130000026007233566001',
      sepa: 'DE89370400440532013000',
      multiple_cards: 'multiple_cards',
    };
    const [row] = await read(`${PAYOUT_HEADER}${columns}\na-1,usd,${network},10,${wallets[network]}${cells}\n`);
    expect(validateOrderInput('withdraw', orderInputOf({ order: row?.order }, { startedBy: 'x' }))).toHaveProperty(
      'input',
    );
  });
});

describe('an NDJSON file', () => {
  test.for(['rows.ndjson', 'rows.jsonl', 'ROWS.NDJSON', 'rows.JsonL'])(
    '%s is read, one object a line, byte order mark or not',
    async (name) => {
      const first = { ...payout, delay_order_for_minutes: 5, client_info: { client_id: 'c' } };
      const content = `\uFEFF${JSON.stringify(first)}\r\n${JSON.stringify({ ...payout, order_id: 'p-2' })}\n`;
      expect(await read(content, name)).toMatchObject([
        { row: 1, line: 1, order: first },
        { row: 2, line: 2, order: { order_id: 'p-2' } },
      ]);
    },
  );
});

describe('inline rows', () => {
  test('are numbered from 1, and read on behind those taken', async () => {
    const rows = [payout, { ...payout, order_id: 'p-2' }];
    const source = await readBatchSource(undefined, { rows });
    expect([...source.rows(1)]).toEqual([{ row: 2, line: 2, order: rows[1], text: JSON.stringify(rows[1]) }]);
  });

  test('have a hash of their content', async () => {
    const hashOf = async (order_id: string) => (await readBatchSource({}, { rows: [{ ...payout, order_id }] })).sha256;
    expect(await hashOf('a')).toBe(await hashOf('a'));
    expect(await hashOf('a')).not.toBe(await hashOf('b'));
  });
});

describe('reading on', () => {
  const lines = Array.from({ length: 40 }, (_, index) =>
    index % 3 === 0 ? `q-${index},usd,card,10,4111111111111111,"Päy, ""${index}"" €"` : `p-${index},usd,card,10,x,`,
  );
  const content = `\uFEFF${PAYOUT_HEADER},description\r\n${lines.join('\r\n')}\r\n`;

  test('from any row gives the rows that were left', async () => {
    const all = await read(content);
    expect(all).toHaveLength(lines.length);
    const source = await opened(content);
    for (const { row } of all) expect([...source.rows(row)]).toEqual(all.slice(row));
  });
});
