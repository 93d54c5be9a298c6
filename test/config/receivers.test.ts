import { chmodSync, readFileSync } from 'node:fs';
import { inspect } from 'node:util';
import { describe, expect, test } from 'vitest';
import { loadWorkerConfig } from '../../src/config.js';
import { problemsOf, tempFile, WORKER_ENV } from './config.fixture.js';

const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo=';
const ERP = { name: 'erp', url: 'https://erp.example/hooks?t=s3cret', secrets: [SECRET] };

const load = (content: unknown) =>
  loadWorkerConfig({ ...WORKER_ENV, EVENTS_FILE: tempFile(JSON.stringify(content)) }).receivers;
const problems = (content: unknown) =>
  problemsOf(loadWorkerConfig, { ...WORKER_ENV, EVENTS_FILE: tempFile(JSON.stringify(content)) });

describe('EVENTS_FILE', () => {
  test('names receivers, and shows neither their secrets nor their URLs', () => {
    const limited = { ...ERP, name: 'shop', accounts: ['default'], kinds: ['order.ended'], allowPrivate: true };
    const receivers = load([ERP, { ...limited, url: 'http://10.0.0.1:8080/' }]);
    expect([...(receivers?.keys() ?? [])]).toEqual(['erp', 'shop']);
    expect(receivers?.get('erp')?.url.reveal()).toBe(ERP.url);
    expect(receivers?.get('shop')).toMatchObject({ accounts: ['default'], kinds: ['order.ended'], allowPrivate: true });
    const shown = inspect(receivers, { depth: 9 }) + JSON.stringify([...(receivers ?? [])]);
    expect(shown).not.toMatch(/whsec|s3cret/);
    expect(loadWorkerConfig(WORKER_ENV).receivers).toBeUndefined();
  });

  test('of the examples is one that a worker takes', () => {
    const file = tempFile(readFileSync('examples/events.json', 'utf8'));
    expect(loadWorkerConfig({ ...WORKER_ENV, EVENTS_FILE: file }).receivers?.size).toBe(1);
  });

  test.for<[what: string, content: unknown, reason: string]>([
    ['no list', {}, 'input: '],
    ['nobody', [], 'input: '],
    ['a name twice', [ERP, ERP], 'input: names a receiver twice'],
    [
      'more than 32',
      Array.from({ length: 33 }, (_, n) => ({ ...ERP, name: `erp-${n}` })),
      'input: must name at most 32',
    ],
    ['a bad name', [{ ...ERP, name: 'ERP 1' }], '[0].name: must match'],
    ['an unknown field', [{ ...ERP, secret: SECRET }], '[0].secret: unknown field'],
    ['no secret', [{ ...ERP, secrets: [] }], '[0].secrets: '],
    ['a secret twice', [{ ...ERP, secrets: [SECRET, SECRET] }], '[0].secrets: names a secret twice'],
    ['a short secret', [{ ...ERP, secrets: ['whsec_c2hvcnQ='] }], '[0].secrets[0]: must be whsec_'],
    [
      'a secret of zeros',
      [{ ...ERP, secrets: [`whsec_${Buffer.alloc(32).toString('base64')}`] }],
      '[0].secrets[0]: must not be easy',
    ],
    ['an unknown kind', [{ ...ERP, kinds: ['order.paid'] }], '[0].kinds[0]: '],
    ['a host that is not ASCII', [{ ...ERP, url: 'https://erp-b\u00fcro.example/' }], '[0].url: must be in ASCII'],
    ['plain http', [{ ...ERP, url: 'http://erp.example/' }], '[0].url: must be https'],
    ['another protocol', [{ ...ERP, url: 'ftp://erp.example/' }], '[0].url: must be an https URL'],
    ['a password in the URL', [{ ...ERP, url: 'https://u:p4ss@erp.example/' }], '[0].url: must not carry credentials'],
    ['a private address', [{ ...ERP, url: 'https://10.0.0.1/' }], '[0].url: names a private address'],
    ['loopback in disguise', [{ ...ERP, url: 'https://2130706433/' }], '[0].url: names a private address'],
    ['allowPrivate that is not true', [{ ...ERP, allowPrivate: 'yes' }], '[0].allowPrivate: '],
  ])('refuses %s, and repeats no value', ([, content, reason]) => {
    const found = problems(content);
    expect(found).toContainEqual(expect.stringContaining(`EVENTS_FILE: ${reason}`));
    expect(found.join()).not.toMatch(/MfKQ|c2hvcnQ|s3cret|p4ss/);
  });

  test('refuses a file that others may read, or that is not there', () => {
    const path = tempFile(JSON.stringify([ERP]));
    chmodSync(path, 0o644);
    expect(problemsOf(loadWorkerConfig, { ...WORKER_ENV, EVENTS_FILE: path }).join()).toContain('chmod 600');
    expect(problemsOf(loadWorkerConfig, { ...WORKER_ENV, EVENTS_FILE: `${path}-gone` })).toEqual([
      'EVENTS_FILE: cannot be read as UTF-8 text',
    ]);
  });
});
