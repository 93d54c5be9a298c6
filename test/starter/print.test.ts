import { Writable } from 'node:stream';
import fc from 'fast-check';
import { pino } from 'pino';
import { describe, expect, it } from 'vitest';
import type { Order } from '../../src/contract/service-objects.js';
import { printable, printableJson } from '../../src/print.js';
import { startProgress } from '../../src/starter/progress.js';
import { listText, rowsText, stateText } from '../../src/starter/text.js';
import { runStarterAlone } from '../support/run-starter.js';

/** Bidi overrides and isolates, zero-width, line separators, C0 and C1 escapes, fillers, tags, a lone surrogate. */
const UNSEEN =
  '\u202e\u2066\u200e\u061c\u200b\u200d\u2060\ufeff\u00ad\u2028\u2029\u001b\u0007\u0000\u007f\u009b\u0085\u3164\u034f\u{e0041}\ud800';
const RAW = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/u;

const withoutBreaks = (text: string): string => text.replace(/\n/g, '');

describe('every unseen character', () => {
  it.each([...UNSEEN].map((found) => [`U+${found.codePointAt(0)?.toString(16)}`, found]))('%s is named', (_, found) => {
    expect(withoutBreaks(printable(`a${found}b`))).toMatch(/^a<U\+[0-9A-F]{4,6}>b$/);
  });

  it('of JSON is escaped, and the value stays the same', () => {
    fc.assert(
      fc.property(fc.json({ stringUnit: 'binary' }), fc.constantFrom(...UNSEEN), (json, extra) => {
        const value = { [extra]: [extra, JSON.parse(json)] };
        const shown = printableJson(JSON.stringify(value));
        expect(shown).not.toMatch(RAW);
        expect(JSON.parse(shown)).toEqual(value);
      }),
    );
  });

  it('in words of people in any script and in our own texts stays out of the way', () => {
    const text = 'Zoë Müller, Оксана, 山田, مريم → 10 % · █░ …\n';
    expect(printable(text)).toBe(text);
  });
});

describe('what the service calls things', () => {
  const evil = `T${UNSEEN}\r\nforged: line`;

  it.each([
    [
      'order show',
      stateText({ orderId: 'w-1' }, {
        order: { deposit_address: evil, deposit_memo: evil } as Order,
      } as never),
    ],
    ['order list', listText([{ orderId: 'a', account: evil, status: evil, startedAt: new Date() } as never])],
    ['rates, balances and addresses', rowsText(['pair', 'amount'], [{ pair: evil, amount: evil }])],
    ['a row that cannot be read', rowsText(['currency', 'amount'], [{ currency: evil, malformed: evil }])],
  ])('%s shows it by name, in its own line', (_, text) => {
    expect(withoutBreaks(text)).not.toMatch(RAW);
    expect(text).toContain('<U+202E>');
    expect(text).not.toMatch(/^forged/m);
  });

  it.each([
    ['lines', startProgress, {}],
    ['a spinner', startProgress, { isTTY: true, cursorTo: () => true, clearLine: () => true, moveCursor: () => true }],
  ])('progress in %s shows it by name', (_, start, terminal) => {
    const written: string[] = [];
    const stream = new Writable({ write: (chunk, _encoding, done) => done(void written.push(String(chunk))) });
    const progress = start(Object.assign(stream, terminal));
    progress.show(evil);
    progress.stop();
    expect(written.join('')).toContain('<U+202E>');
    expect(written.join('')).not.toMatch(/[\u202e\u200b\u2028\u009b]|^forged/m);
  });
});

describe('errors', () => {
  const argv = ['order', 'show', 'o-1', '--timeout', 'a\u202e\u009b\u2028b'];

  it('show what was typed by name', async () => {
    const { code, stderr } = await runStarterAlone(argv);
    expect(code).toBe(2);
    expect(withoutBreaks(stderr)).not.toMatch(RAW);
  });

  it('of an unknown option do the same, as text and as JSON', async () => {
    const { stderr, stdout } = await runStarterAlone(['order', 'show', 'o-1', '--x\u202e\u009b', '--json']);
    expect(stderr).toContain('--x<U+202E><U+009B>');
    expect(stdout).toContain('--x\\u202e\\u009b');
    expect(JSON.parse(stdout).error.message).toContain('--x\u202e\u009b');
  });
});

it('a log line escapes it', () => {
  const written: string[] = [];
  const log = pino({ hooks: { streamWrite: printableJson } }, { write: (line) => void written.push(line) });
  log.info({ excerpt: 'a\u202e\u009bb' }, 'm\u2028');
  expect(written.join('')).toMatch(/"excerpt":"a\\u202e\\u009bb","msg":"m\\u2028"}\n$/);
});
