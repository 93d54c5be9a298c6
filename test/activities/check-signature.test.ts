import { createPrivateKey, createPublicKey, verify } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { MockActivityEnvironment } from '@temporalio/testing';
import { describe, expect, test } from 'vitest';
import { checkSignatureActivity } from '../../src/activities/check-signature.js';
import type { Account, ActivityDeps } from '../../src/activities/deps.js';
import { signed, signTogether } from '../../src/client/signing.js';
import type { Approvers, Right } from '../../src/config/approvers.js';
import type { Decision } from '../../src/contract/order/messages.js';
import {
  type CheckSignatureInput,
  type SignedRun,
  type SignedUpdate,
  signatureProblem,
  textToSign,
} from '../../src/contract/signature.js';
import { keyIdOf } from '../../src/contract/signed-together.js';

interface Vector {
  update: SignedUpdate;
  run: SignedRun;
  choice: { by: string };
  text: string;
  value: string;
}

const trust = await readFile(fileURLToPath(new URL('../../docs/trust.md', import.meta.url)), 'utf8');
const block = /### Signing with other software[\s\S]*?```json\n([\s\S]*?)```/.exec(trust)?.[1] ?? '';
interface Together {
  of: { run: SignedRun; choice: Decision }[];
  texts: string[];
  text: string;
  value: string;
}

const known: { privateKeySeed: string; publicKey: string; keyId: string; vectors: Vector[]; together: Together } =
  JSON.parse(block);

const publicKey = createPublicKey({ key: Buffer.from(known.publicKey, 'base64'), format: 'der', type: 'spki' });
/** The fixed head of an Ed25519 key in PKCS #8, and its seed. */
const pkcs8 = Buffer.from(`302e020100300506032b657004220420${known.privateKeySeed}`, 'hex');
const privateKey = createPrivateKey({ key: pkcs8, format: 'der', type: 'pkcs8' });

const may = new Set<Right>(['decide', 'approve']);
const approvers: Approvers = new Map([[known.keyId, { person: 'Ann Smith', key: publicKey, may }]]);
const accounts = new Map([['default', {} as Account]]);

function check(input: CheckSignatureInput, { run, ...deps }: Partial<ActivityDeps> & { run: SignedRun }) {
  const { namespace: workflowNamespace, workflowId, runId } = run;
  const env = new MockActivityEnvironment({ workflowNamespace, workflowExecution: { workflowId, runId } });
  return env.run(checkSignatureActivity({ accounts, ...deps }), input);
}

describe('one signature for many orders', () => {
  const { of, texts, text, value } = known.together;
  const all = of.map(({ run, choice }) => ({ run, decision: choice }));
  const signature = { keyId: known.keyId, value, texts };
  const checked = (
    { run, decision }: { run: SignedRun; decision: Decision },
    sent: CheckSignatureInput['signature'] = signature,
    update: SignedUpdate = 'decide',
  ) =>
    check(
      { account: 'default', update, choice: decision, signature: sent },
      { run, approvers: new Map([['default', approvers]]) },
    );
  const REFUSED = { kind: 'refused', reason: expect.stringContaining('does not match this choice and run') };

  test('is made of the text that docs/trust.md shows', async () => {
    expect(verify(null, Buffer.from(text), publicKey, Buffer.from(value, 'base64'))).toBe(true);
    expect(await signTogether(all, privateKey)).toEqual(signature);
    expect(await signTogether([...all].reverse(), privateKey)).toEqual(signature);
    expect(trust).toContain(text.split('\n')[1]);
  });

  test('counts for each of its orders', async () => {
    for (const one of all) expect(await checked(one)).toEqual({ kind: 'signed', keyId: known.keyId });
  });

  test('counts for no other order, run, revision or field, and with no other list', async () => {
    const [first, second] = all;
    if (!first || !second) throw new Error('the vector is for two orders');
    const { run, decision } = first;
    const others = [
      { run: { ...run, workflowId: 'order:default:o-3' }, decision },
      { run: { ...run, runId: 'r-2' }, decision: { ...decision, runId: 'r-2' } },
      { run: { ...run, namespace: 'other' }, decision },
      { run, decision: { ...decision, revision: 8 } },
      { run, decision: { ...decision, action: 'close-absent' as const } },
      { run, decision: { ...decision, reason: 'another' } },
      { run, decision: { ...decision, order_uuid: 'u-1' } },
    ];
    for (const other of others) expect(await checked(other)).toMatchObject(REFUSED);
    // Whoever sees it go by adds the text of another order, leaves one out, or takes the list away.
    const [other] = await Promise.all(others.slice(0, 1).map((one) => signTogether([one], privateKey)));
    const added = [...texts, ...(other?.texts ?? [])].sort();
    for (const list of [added, texts.slice(0, 1), texts.slice(1), []]) {
      expect(await checked(first, { ...signature, texts: list })).toMatchObject({ kind: 'refused' });
    }
    expect(await checked(others[0] ?? first, { ...signature, texts: added })).toMatchObject(REFUSED);
    expect(await checked(first, { keyId: signature.keyId, value })).toMatchObject(REFUSED);
    expect(await checked(first, signature, 'approve')).toMatchObject(REFUSED);
  });

  test('has a list of at most 500 hashes', () => {
    const hash = 'a'.repeat(64);
    const problem = (list: unknown) => signatureProblem({ keyId: 'k', value: 'v', texts: list });
    expect(problem(Array.from({ length: 500 }, () => hash))).toBeUndefined();
    for (const list of [Array.from({ length: 501 }, () => hash), 'a', [7], ['A'.repeat(64)], [hash.slice(1)], null]) {
      expect(problem(list)).toContain('texts must be');
    }
  });
});

describe('the test vectors of docs/trust.md', () => {
  test('hold a null in an object, a null in a list and texts beyond ASCII', () => {
    expect(known.vectors.map(({ update }) => update)).toEqual(['decide', 'decide', 'approve', 'resume']);
    const texts = known.vectors.map(({ text }) => text).join();
    expect(JSON.stringify(known.vectors)).toMatch(/"kind":null/);
    expect(texts).not.toContain('"kind"');
    expect(texts).toContain('},null]');
    expect(texts).toMatch(/[^\x20-\x7e\n]/);
    expect(keyIdOf(publicKey)).toBe(known.keyId);
  });

  test.for(known.vectors)('$update of $run.workflowId', async ({ update, run, choice, text, value }) => {
    expect(verify(null, Buffer.from(text), publicKey, Buffer.from(value, 'base64'))).toBe(true);
    // Our client drops the nulls and signs the same text.
    const { signature, ...sent } = await signed(choice, privateKey, { update, run });
    expect(signature).toEqual({ keyId: known.keyId, value });
    expect(textToSign(update, run, sent)).toBe(text);
    // A null that stays in the text is another choice.
    expect(textToSign(update, run, { ...sent, kind: null })).not.toBe(text);

    const answer = await check(
      { account: 'default', update, choice: sent, signature },
      { run, approvers: new Map([['default', approvers]]) },
    );
    const isAnn = choice.by === 'Ann Smith';
    expect(answer).toMatchObject(
      isAnn ? { kind: 'signed' } : { reason: expect.stringContaining('this key requires the name Ann Smith') },
    );
  });
});

describe('an account that this worker does not serve', () => {
  const [vector] = known.vectors as [Vector];
  const { update, run, choice, value } = vector;
  const signature = { keyId: known.keyId, value };
  const settings: [string, Partial<ActivityDeps>][] = [
    ['without APPROVERS_FILE', {}],
    ['with approvers of another account', { approvers: new Map([['default', approvers]]) }],
    ['with an audit record', { audit: { append: () => Promise.reject(new Error('written')) } }],
  ];
  for (const account of ['eu', '__proto__', '', undefined, null, ['default']]) {
    test.for(settings)(`${JSON.stringify(account)} is refused: %s`, async ([, deps]) => {
      for (const given of [undefined, signature]) {
        const input = { account, update, choice, signature: given } as unknown as CheckSignatureInput;
        const reason = expect.stringMatching(/^account: .*Nothing was decided/);
        expect(await check(input, { ...deps, run })).toEqual({ kind: 'refused', reason });
      }
    });
  }

  test('one that it serves and that asks for no signatures takes unsigned ones', async () => {
    expect(await check({ account: 'default', update, choice }, { run })).toEqual({ kind: 'unasked' });
  });
});
