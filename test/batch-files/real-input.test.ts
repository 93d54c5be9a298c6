import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ApplicationFailure } from '@temporalio/common';
import { describe, expect, onTestFinished, test } from 'vitest';
import { startSandbox } from '../../sandbox/index.js';
import type { BatchPlan } from '../../src/contract/batch/batch.js';
import type { FieldError } from '../../src/contract/failures.js';
import { activitiesFor } from '../activities/activity-lab.fixture.js';
import { answer, startServer } from '../payment-service/server.fixture.js';
import { folderWith } from '../support/batch-files.js';

/**
 * Batch files as people export them, planned by the activity that every `batch plan` runs. Each file of the folder has one
 * row in this table: its wanted plan, or the exact fields of its refusal.
 */

const FOLDER = join(import.meta.dirname, 'real-input');

/** What a file is to result in: `refused` names every refused field, `line 2: order.amount` or `file`, and its reason. */
type Wanted =
  | { planned: number; warnings?: readonly RegExp[] }
  | { refused: Readonly<Record<string, RegExp>>; warnings?: undefined };

const refused = (fields: Readonly<Record<string, RegExp>>): Wanted => ({ refused: fields });
/** A refusal of the same field for the same reason in many lines. */
const inLines = (lines: readonly number[], field: string, reason: RegExp): Wanted =>
  refused(Object.fromEntries(lines.map((line) => [`line ${line}: order.${field}`, reason])));
const NO_VALUE = /"no value" of an export/;
const OF_SHEET = /^these ids read as dates, times or numbers that a spreadsheet wrote/;
const upTo = (last: number): number[] => Array.from({ length: last - 1 }, (_, index) => index + 2);

const WANTED: Readonly<Record<string, Wanted>> = {
  // Amounts.
  'amount-shapes.csv': refused({
    'line 2: order.amount': /currency sign/,
    'line 3: order.amount': /currency code/,
    'line 4: order.amount': /brackets.*negative/,
    'line 5: order.amount': /minus.*negative/,
    'line 6: order.amount': /minus.*negative/,
    'line 7: order.amount': /blank/,
    'line 8: order.amount': /0 to 9/,
    'line 9: order.amount': /exponent/,
    'line 10: order.amount': /letter/,
    'line 11: order.amount': /quote/,
    'line 12: order.amount': /more than one point/,
    'line 13: order.amount': /0 to 9/,
    'line 14: order.amount': /begins with 0: write 12\.50/,
    'line 15: order.amount': /begins with the point: write 0\.50/,
    'line 16: order.amount': /plus sign/,
  }),
  'comma-thousands.csv': refused({ 'line 2: order.amount': /separators.*1000 or 1\? write 1000 or 1\.00/ }),
  'dot-thousands.csv': refused({ 'line 2: order.amount': /eur allows 2.*1 or 1000\? write 1000 or 1\.00/ }),
  'dot-thousands-jpy.csv': refused({ 'line 2: order.amount': /jpy allows 0.*25 or 25000\? write 25000 or 25/ }),
  'indian-thousands.csv': refused({ 'line 2: order.amount': /separators.*write 100000/ }),
  // Zeros count as decimals in every currency.
  'jpy-decimals.csv': refused({ 'line 2: order.amount': /jpy allows 0.*705 or 70500\? write 70500 or 705/ }),

  // Formats and encodings.
  'UPPER.CSV': { planned: 1, warnings: [] },
  'array.ndjson': refused({ file: /JSON array.*one object a line/ }),
  'cp1251.csv': refused({ 'line 2: row': /not UTF-8.*Windows.*CSV UTF-8/ }),
  'cr-only.csv': refused({ file: /bare CR.*CRLF/ }),
  'ctrl-z.csv': refused({ 'line 3: row': /Ctrl\+Z.*remove/ }),
  'html.csv': refused({ file: /HTML.*export/ }),
  'nul-tail.csv': refused({ 'line 3: row': /NUL.*export/ }),
  'utf16le-bom.csv': refused({ file: /UTF-16.*UTF-8/ }),
  'utf16le.csv': refused({ file: /UTF-16.*UTF-8/ }),
  'xlsx.csv': refused({ file: /Excel workbook.*CSV UTF-8/ }),

  // Headers and rows.
  'comma-rows.csv': { planned: 1, warnings: [/^3 empty rows .* skipped/] },
  'comma-rows-blank.csv': { planned: 1, warnings: [/^1 empty row .* skipped/] },
  'header-case.csv': refused({ file: /Order_ID.*order_id.*Wallet.*wallet/i }),
  'header-quoted-blank.csv': { planned: 1, warnings: [] },
  'homoglyph-header.csv': refused({ file: /column 4.*amount.*U\+0430/ }),
  'homoglyph-header2.csv': refused({ file: /column 5.*wallet.*U\+200B/ }),
  'homoglyph-id.csv': refused({ 'line 2: order.order_id': /U\+0410 \(a Cyrillic letter\)/ }),
  'mc-details.csv': refused({ 'line 2: order.wallet_details[1].amount': /amounts are strings/ }),
  'short-rows.csv': refused({ 'line 3: row': /5 cells, the header has 7/ }),
  'tax-zero.csv': refused({ 'line 2: order.wallet_details.taxpayer_number': /8 to 10 digits/ }),
  'totals.csv': refused({
    'line 4: order.wallet': /required/,
    'line 4: order.currency': /required/,
    'line 4: order.network': /required/,
  }),
  'trailing-columns.csv': refused({ file: /column 6 has no name; column 7 has no name/ }),
  'two-headers.csv': refused({ 'line 3: order.amount': /letter/ }),

  // Spreadsheet damage in columns that identify.
  'case-ids.csv': { planned: 2, warnings: [/only by case/] },
  'float-card.csv': inLines([2], 'wallet', /put a point or comma/),
  'float-delay.csv': inLines([2], 'delay_order_for_minutes', /whole minutes/),
  'float-id.csv': inLines([2, 3], 'order_id', /added "\.0"/),
  'float-memo.csv': inLines([2], 'wallet_memo', /put a point or comma/),
  'float-tax.csv': inLines([2], 'wallet_details.taxpayer_number', /put a point or comma/),
  // Ids that a spreadsheet made of others, and those before it did.
  'n-iddate.csv': { planned: 2, warnings: [OF_SHEET] },
  'n-iddate2.csv': { planned: 2, warnings: [OF_SHEET] },
  'two-ids-1.csv': { planned: 3, warnings: [] },
  'two-ids-2.csv': { planned: 3, warnings: [OF_SHEET] },
  'n-memo15.csv': inLines([2], 'wallet_memo', /whole number from 0 to 4294967295/),
  'nan-bank.csv': inLines([2], 'wallet_details.bank_code', NO_VALUE),
  'nan-memo.csv': inLines(upTo(11), 'wallet_memo', NO_VALUE),
  'nan-name.csv': inLines([2, 3], 'wallet_details.recipient_name', NO_VALUE),
  'nan-wallet.csv': inLines([2, 3], 'wallet', NO_VALUE),

  // Invisible characters.
  'desc-invisible.csv': inLines([2], 'description', /U\+202E/),
  'iban-blanks.csv': inLines([2, 3, 4, 5], 'wallet', /^\*\*\*\*3000: /),
  'memo-blanks.csv': inLines(upTo(11), 'wallet_memo', /./),
  'name-invisible.csv': inLines([2, 3, 4, 5, 6, 7], 'wallet_details.recipient_name', /U\+|blank/),

  // Addresses.
  'checksum-btc.csv': inLines([2, 3], 'wallet', /./),
  'checksum-eth.csv': inLines([2], 'wallet', /./),
  'checksum-tron.csv': inLines([2], 'wallet', /./),
  'homoglyph-wallet.csv': inLines([2, 3], 'wallet', /\*{4}.*U\+04.. \(a Cyrillic letter\)/),
  'uri-wallet.csv': inLines([2, 3, 4], 'wallet', /./),
};

/** Payouts that the sandbox does not offer. */
const MORE_PAYOUTS = [
  { currency: 'jpy', network: 'card', places: 0 },
  { currency: 'xrp', network: 'ripple', places: 6 },
];

interface RatesAnswer {
  data: { withdraw: Record<string, Record<string, unknown>> };
}

/** A service like the sandbox, which pays out in more currencies. */
async function startService(): Promise<{ baseUrl: string; apiKey: string; apiSecret: string }> {
  const sandbox = await startSandbox({ settings: { callbacks: { enabled: false } } });
  onTestFinished(() => sandbox.close());
  const { baseUrl } = await startServer(async (response, { method, path, headers, body }) => {
    const passedOn = headers.filter(([name]) => name !== 'host' && name !== 'connection' && name !== 'content-length');
    const content = method === 'GET' ? {} : { body: new Uint8Array(body) };
    const reply = await fetch(`${sandbox.url}${path}`, { method, headers: passedOn, ...content });
    if (!path.endsWith('/rates')) return answer(response, await reply.text(), reply.status);
    const { data } = (await reply.json()) as RatesAnswer;
    for (const { currency, network, places } of MORE_PAYOUTS) {
      data.withdraw[`${currency}_${network}`] = {
        ...data.withdraw.usd_card,
        currency_from: currency,
        currency_to: currency,
        network_to: network,
        currency_from_precision: places,
        currency_to_precision: places,
      };
    }
    return answer(response, data);
  });
  return { ...sandbox, baseUrl };
}

/** What planning a file results in. */
async function planned(name: string): Promise<BatchPlan | Readonly<Record<string, string>>> {
  const batchDir = folderWith(name, readFileSync(join(FOLDER, name)));
  const run = await activitiesFor(await startService(), { directories: { batchDir } });
  try {
    return await run('planBatch', { account: 'default', input: { file: { path: name }, startedBy: 'ann' } });
  } catch (error) {
    if (!(error instanceof ApplicationFailure)) throw error;
    const fields = (error.details?.[0] ?? []) as FieldError[];
    return Object.fromEntries(
      fields.filter(({ field }) => field !== 'rows').map(({ field, reason }) => [field, reason]),
    );
  }
}

describe('a file as people export it', () => {
  test('has a row in this table', () => {
    expect(Object.keys(WANTED).toSorted()).toEqual(readdirSync(FOLDER).toSorted());
  });

  for (const [name, wanted] of Object.entries(WANTED)) {
    test(`${name} is ${'planned' in wanted ? 'planned' : 'refused'}`, async () => {
      const result = await planned(name);
      if ('refused' in wanted) {
        const reasons = Object.entries(wanted.refused).map(([field, reason]) => [field, expect.stringMatching(reason)]);
        expect(result).toEqual(Object.fromEntries(reasons));
        return;
      }
      expect(result).toMatchObject({ rows: wanted.planned });
      const warnings = (result as BatchPlan).warnings.map(({ reason }) => reason);
      expect(warnings).toEqual((wanted.warnings ?? []).map((reason) => expect.stringMatching(reason)));
    });
  }
});
