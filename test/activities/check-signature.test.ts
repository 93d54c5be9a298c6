import { createPrivateKey, createPublicKey, verify } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { MockActivityEnvironment } from '@temporalio/testing';
import { describe, expect, test } from 'vitest';
import { checkSignatureActivity } from '../../src/activities/check-signature.js';
import type { Account, ActivityDeps } from '../../src/activities/deps.js';
import { signed } from '../../src/client/signing.js';
import type { Approvers, Right } from '../../src/config/approvers.js';
import { keyIdOf } from '../../src/contract/key-id.js';
import type { CheckSignatureInput, SignedRun, SignedUpdate } from '../../src/contract/signature.js';
import { textToSign } from '../../src/contract/signature.js';

interface Vector {
  update: SignedUpdate;
  run: SignedRun;
  choice: { by: string };
  text: string;
  value: string;
}

const trust = await readFile(fileURLToPath(new URL('../../docs/trust.md', import.meta.url)), 'utf8');
const block = /### Signing with other software[\s\S]*?```json\n([\s\S]*?)```/.exec(trust)?.[1] ?? '';
const known: { privateKeySeed: string; publicKey: string; keyId: string; vectors: Vector[] } = JSON.parse(block);

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
      isAnn ? { kind: 'signed' } : { reason: expect.stringContaining('this key is of Ann Smith') },
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
