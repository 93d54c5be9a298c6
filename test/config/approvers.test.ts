import { createPublicKey, generateKeyPairSync } from 'node:crypto';
import { chmodSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { loadWorkerConfig } from '../../src/config.js';
import { APPROVERS_FILE, KEYS, newKey, publicLine, withFile } from '../support/approvers.js';
import { problemsOf, tempFile, WORKER_ENV } from './config.fixture.js';

const [ANN, BOB, CID] = [publicLine(KEYS.ann), publicLine(KEYS.bob), publicLine(KEYS.cid)];
const RIGHTS = { decide: ['Ann', 'Bob'], approve: ['Ann', 'Bob'] };
const PERSONS = { Ann: [ANN], Bob: [BOB] };

const problems = (content: unknown) =>
  withFile(content, (path) => problemsOf(loadWorkerConfig, { ...WORKER_ENV, APPROVERS_FILE: path }));

describe('APPROVERS_FILE', () => {
  test('says per account whose keys may decide and approve', () => {
    const { approvers } = withFile(APPROVERS_FILE, (path) => loadWorkerConfig({ ...WORKER_ENV, APPROVERS_FILE: path }));
    const found = [...(approvers?.get('default')?.values() ?? [])].map(({ person, may }) => [person, ...may]);
    expect(found).toEqual([
      ['Ann Smith', 'decide', 'approve'],
      ['Ann Smith', 'decide', 'approve'],
      ['Bob Jones', 'decide', 'approve'],
      ['Cid Low', 'decide'],
      ['Dan High', 'approve'],
    ]);
  });

  test('of the examples is one that a worker takes', () => {
    const env = { PAYMENT_ACCOUNTS_FILE: tempFile(readFileSync('examples/accounts.json', 'utf8')) };
    const { approvers } = withFile(readFileSync('examples/approvers.json', 'utf8'), (path) =>
      loadWorkerConfig({ ...env, APPROVERS_FILE: path }),
    );
    expect([...(approvers?.keys() ?? [])]).toEqual(['default']);
  });

  test('leaves an account open only where it says so, and may name accounts of other workers', () => {
    const open = { persons: PERSONS, accounts: { default: 'unsigned', other: RIGHTS } };
    const { approvers } = withFile(open, (path) => loadWorkerConfig({ ...WORKER_ENV, APPROVERS_FILE: path }));
    expect([...(approvers?.keys() ?? [])]).toEqual([]);
    expect(loadWorkerConfig(WORKER_ENV).approvers).toBeUndefined();
  });

  const privateLine = newKey().export({ format: 'der', type: 'pkcs8' }).toString('base64');
  const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 }).publicKey;
  const rsaLine = createPublicKey(rsa.export({ format: 'pem', type: 'spki' })).export({ format: 'der', type: 'spki' });

  test.for<[what: string, content: unknown, reason: string]>([
    ['nothing', '', 'is not JSON'],
    ['no object', [], 'input: '],
    ['an account missing', { persons: PERSONS, accounts: { defualt: RIGHTS } }, 'accounts: names no default'],
    [
      'the published key of RFC 8032',
      {
        persons: { ...PERSONS, Ann: ['MCowBQYDK2VwAyEA11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo='] },
        accounts: { default: RIGHTS },
      },
      'persons.Ann[0]: is a key that everybody can read',
    ],
    ['one approver', { persons: PERSONS, accounts: { default: { ...RIGHTS, approve: ['Ann'] } } }, 'accounts.default'],
    ['nobody who decides', { persons: PERSONS, accounts: { default: { ...RIGHTS, decide: [] } } }, 'accounts.default'],
    ['one right missing', { persons: PERSONS, accounts: { default: { decide: ['Ann'] } } }, 'accounts.default'],
    [
      'a right that is none',
      { persons: PERSONS, accounts: { default: { ...RIGHTS, stop: ['Ann'] } } },
      'accounts.default',
    ],
    [
      'a name twice',
      { persons: PERSONS, accounts: { default: { ...RIGHTS, approve: ['Ann', 'Ann'] } } },
      'accounts.default.approve: names a person twice',
    ],
    [
      'a stranger',
      { persons: PERSONS, accounts: { default: { ...RIGHTS, decide: ['Cid'] } } },
      'accounts.default.decide: names somebody who is not in persons',
    ],
    [
      'a person under two spellings',
      { persons: { ...PERSONS, ＡＮＮ: [CID] }, accounts: { default: RIGHTS } },
      'persons: one is there under another spelling',
    ],
    [
      'one key for two persons',
      { persons: { Ann: [ANN], Bob: [ANN] }, accounts: { default: RIGHTS } },
      'persons: the same key stands there twice',
    ],
    [
      'a person written down twice',
      `{"persons": {"Ann": ["${ANN}"], "Bob": ["${BOB}"], "Ann": ["${CID}"]}, "accounts": {"default": "unsigned"}}`,
      'twice with different values',
    ],
    ['no key', { persons: { Ann: [], Bob: [BOB] }, accounts: { default: RIGHTS } }, 'persons.Ann'],
    [
      'a private key',
      { persons: { Ann: [privateLine], Bob: [BOB] }, accounts: { default: RIGHTS } },
      'persons.Ann[0]: must be an Ed25519 public key',
    ],
    [
      'a key of another kind',
      { persons: { Ann: [rsaLine.toString('base64')], Bob: [BOB] }, accounts: { default: RIGHTS } },
      'persons.Ann[0]: must be an Ed25519 public key',
    ],
    [
      'a damaged key',
      { persons: { Ann: [`${ANN.slice(0, -2)}=`], Bob: [BOB] }, accounts: { default: RIGHTS } },
      'persons.Ann[0]: must be an Ed25519 public key',
    ],
  ])('with %s is refused', ([, content, reason]) => {
    const found = problems(content);
    expect(found.every((line) => line.startsWith('APPROVERS_FILE: '))).toBe(true);
    expect(found.join('\n')).toContain(reason);
    expect(found.join('\n')).not.toMatch(/MC[4o]wB/);
  });

  test('that others may write is refused', () => {
    for (const mode of [0o602, 0o666, 0o620]) {
      const found = withFile(APPROVERS_FILE, (path) => {
        chmodSync(path, mode);
        return problemsOf(loadWorkerConfig, { ...WORKER_ENV, APPROVERS_FILE: path });
      });
      expect(found).toEqual(['APPROVERS_FILE: is writable by other users: run chmod go-w']);
    }
  });

  test('set but empty, or naming no file, is refused', () => {
    const found = (path: string) => problemsOf(loadWorkerConfig, { ...WORKER_ENV, APPROVERS_FILE: path });
    expect(found('')).toEqual(['APPROVERS_FILE: is set but empty: give it a value, or unset it']);
    expect(found('/nowhere/zz')).toEqual(['APPROVERS_FILE: cannot be read as UTF-8 text']);
  });
});
