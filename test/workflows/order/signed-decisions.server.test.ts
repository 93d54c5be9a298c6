import { createPublicKey, type KeyObject, sign } from 'node:crypto';
import { describe, expect, test, vi } from 'vitest';
import type { OrderHandle } from '../../../src/client/order-handle.js';
import { signed } from '../../../src/client/signing.js';
import type { Decision } from '../../../src/contract/order/messages.js';
import type { SignedRun } from '../../../src/contract/signature.js';
import { keyIdOf } from '../../../src/contract/signed-together.js';
import { resetTo, resettableEvents, runOf, WITHOUT_UPDATES } from '../../reliability/reset.fixture.js';
import { KEYS, newKey, testApprovers } from '../../support/approvers.js';
import { orderInput } from '../../support/inputs.js';
import { newOrderId, useLab } from '../../support/lab.js';
import {
  atService,
  executions,
  parkedFor,
  type Steered,
  startSteered,
  TWO_CARDS,
} from '../compensation/parked-orders.fixture.js';

vi.setConfig({ maxConcurrency: 20 });

const lab = useLab({ limits: { approvers: testApprovers() } });

const PARTIAL = 'outcome=completed_partially fraction=0.6';
const GOOD_CARD = [{ amount: '5', wallet: '5555555555554444' }];
const OTHER_CARD = [{ amount: '5', wallet: '4242424242424242' }];

/** A payout of which 5 usd are left, and a person is asked which card gets them. */
async function parked(options: Partial<Steered> = {}) {
  const steered = { marker: PARTIAL, order: TWO_CARDS, compensation: 'ask', ...options } as const;
  const { orderId, handle } = await startSteered(lab, 'withdraw', steered);
  const { revision } = await parkedFor(handle);
  const decision: Decision = {
    action: 'finish',
    by: 'Ann Smith',
    reason: 'the card of the contract',
    revision,
    wallet_details: GOOD_CARD,
  };
  return { orderId, handle, decision, followUp: `${orderId}.r1` };
}

/** What a client without our library sends: Temporal takes any update. */
const sendRaw = (on: { workflowId: string }, decision: object) =>
  lab.temporal.client.workflow.getHandle(on.workflowId).executeUpdate('decide', { args: [decision] });

/** A follow-up has its order's marker, and so ends partially, too: what is left then is accepted. */
async function ended(handle: OrderHandle, { followUp }: { followUp: string }) {
  const { revision } = await parkedFor(handle, `the follow-up ${followUp} ended`);
  await handle.decide({ action: 'accept', by: 'Bob Jones', reason: 'enough', revision }, { signer: KEYS.bob });
  return handle.result();
}

/** Why the workflow refused it. */
const refusalOf = (sent: Promise<unknown>): Promise<string> =>
  sent.then(
    () => 'taken',
    (error: Error) => String(error.cause ?? error),
  );

const signedRunOf = async (handle: OrderHandle): Promise<SignedRun> => ({
  namespace: lab.temporal.namespace,
  account: 'default',
  ...(await runOf(lab, handle)),
});

const signAs = (key: KeyObject, decision: Decision, run: SignedRun) => signed(decision, key, { update: 'decide', run });

/** Nothing was sent, and the question stands as it stood. */
async function untouched(handle: OrderHandle, { revision }: Decision, followUp: string): Promise<void> {
  expect(await handle.state()).toMatchObject({ phase: 'parked', revision });
  expect(executions(lab, followUp)).toBe(0);
}

describe.concurrent('a decision on an account of APPROVERS_FILE is refused, and nothing is sent', () => {
  test('from a client of Temporal that decides as "Chief Operator", to a card of its choice', async () => {
    const { handle, decision, followUp } = await parked();
    const forged = { ...decision, by: 'Chief Operator', wallet_details: OTHER_CARD };
    expect(await refusalOf(sendRaw(handle, forged))).toContain('account default takes nothing unsigned');
    await expect(handle.decide({ ...decision, by: 'Ann Smith' })).rejects.toThrow('takes nothing unsigned; sign with');
    await untouched(handle, decision, followUp);
  });

  test.for<[who: string, key: KeyObject, by: string, why: string]>([
    ['by a key that nobody has', KEYS.zed, 'Ann Smith', 'no person of APPROVERS_FILE has this key'],
    ['by somebody who may only approve', KEYS.dan, 'Dan High', 'Dan High may not decide for account default'],
    ['in the name of another person', KEYS.bob, 'Ann Smith', 'this key requires the name Bob Jones'],
    ['in their own name, spelt otherwise', KEYS.ann, 'ann smith', 'this key requires the name Ann Smith'],
  ])('signed %s', async ([, key, by, why], { expect }) => {
    const { handle, decision, followUp } = await parked();
    await expect(handle.decide({ ...decision, by }, { signer: key })).rejects.toThrow(why);
    await untouched(handle, decision, followUp);
  });

  test('with the id of a key beside the signature of another one', async () => {
    const { handle, decision, followUp } = await parked();
    const run = await signedRunOf(handle);
    const { signature } = await signAs(KEYS.zed, decision, run);
    const own = (await signAs(KEYS.ann, decision, run)).signature;
    const forged = { ...decision, signature: { ...signature, keyId: own.keyId } };
    expect(await refusalOf(sendRaw(handle, forged))).toContain('does not match this choice');
    await untouched(handle, decision, followUp);
  });

  test('with a card, or any other field, changed behind the signature', async () => {
    const { handle, decision, followUp } = await parked();
    const good = await signAs(KEYS.ann, decision, await signedRunOf(handle));
    const changes: object[] = [
      { wallet_details: OTHER_CARD },
      { wallet_details: [{ amount: '4.99', wallet: '5555555555554444' }] },
      { wallet_details: [{ amount: '5.0', wallet: '5555555555554444' }] },
      {
        wallet_details: [
          { amount: '2', wallet: '5555555555554444' },
          { amount: '3', wallet: '5555555555554444' },
        ],
      },
      { reason: 'another' },
      { kind: 'unpaid' },
      { as: 'withdraw' },
      { action: 'accept', wallet_details: undefined },
    ];
    for (const change of changes) {
      expect(await refusalOf(sendRaw(handle, { ...good, ...change })), JSON.stringify(change)).toContain(
        'does not match this choice and run',
      );
    }
    expect(await refusalOf(sendRaw(handle, { ...good, by: 'Bob Jones' }))).toContain('does not match this choice');
    await untouched(handle, decision, followUp);
  });

  test('signed for another namespace, account, order, run or use', async () => {
    const { handle, decision, followUp } = await parked();
    const run = await signedRunOf(handle);
    const others: Partial<SignedRun>[] = [
      { namespace: 'production' },
      { account: 'other' },
      { workflowId: 'order:default:other' },
      { runId: '11111111-2222-3333-4444-555555555555' },
    ];
    for (const other of others) {
      const sent = await signAs(KEYS.ann, decision, { ...run, ...other });
      expect(await refusalOf(sendRaw(handle, sent)), JSON.stringify(other)).toContain(
        'does not match this choice and run',
      );
    }
    const resume = await signed(decision, KEYS.ann, { update: 'resume', run });
    expect(await refusalOf(sendRaw(handle, resume))).toContain('does not match this choice');
    await untouched(handle, decision, followUp);
  });

  test('that was signed and taken for another order', async () => {
    const [one, other] = await Promise.all([parked(), parked()]);
    expect(one.decision).toEqual(other.decision);
    const taken = await signAs(KEYS.ann, one.decision, await signedRunOf(one.handle));
    await sendRaw(one.handle, taken);
    expect(await refusalOf(sendRaw(other.handle, taken))).toContain('does not match this choice and run');
    await untouched(other.handle, other.decision, other.followUp);
  });

  test('that was taken at an earlier revision of the same order, however its revision is written', async () => {
    const marker = 'create=500-before';
    const handle = await lab.orders.start(
      'withdraw',
      orderInput('withdraw', newOrderId('later'), { marker, resend: 'never' }),
    );
    const { revision } = await parkedFor(handle);
    const decision: Decision = { action: 'adopt', by: 'Ann Smith', reason: 'seen', revision, order_uuid: 'not-there' };
    const taken = await signAs(KEYS.ann, decision, await signedRunOf(handle));
    await sendRaw(handle, taken);
    const { revision: later } = await parkedFor(handle, 'not-there');
    expect(later).toBeGreaterThan(revision);
    expect(await refusalOf(sendRaw(handle, taken))).toContain('is stale');
    expect(await refusalOf(sendRaw(handle, { ...taken, revision: later }))).toContain('does not match this choice');
    expect(await handle.state()).toMatchObject({ phase: 'parked', revision: later });
  });

  test('that was signed for the run before a reset, though the revision is the same', async () => {
    const { handle, decision, followUp } = await parked();
    const run = await signedRunOf(handle);
    const old = await signAs(KEYS.ann, decision, run);
    const events = await resettableEvents(lab, run);
    await resetTo(lab, run, events[0] ?? '', WITHOUT_UPDATES);
    expect((await parkedFor(handle)).revision).toBe(decision.revision);
    expect(await refusalOf(sendRaw(handle, old))).toContain('does not match this choice and run');
    await untouched(handle, decision, followUp);
    // Signed anew, for the run that is, it counts.
    await handle.decide(decision, { signer: KEYS.ann });
    await ended(handle, { followUp });
    expect(executions(lab, followUp)).toBe(1);
  });

  test('that is no decision or no signature at all, without harm to the order', async () => {
    const { handle, decision, followUp } = await parked();
    let deep: unknown = 'x';
    for (let level = 0; level < 2_000; level += 1) deep = { a: deep };
    const bad: [object, string][] = [
      [{ ...decision, signature: 'signed' }, 'signature: must be {keyId, value}'],
      [{ ...decision, signature: { keyId: 'a', value: 7 } }, 'signature: must be {keyId, value}'],
      [{ ...decision, signature: { keyId: 'a', value: 'b', deep } }, 'levels deep'],
      [{ ...decision, signature: { keyId: 'a', value: 'x'.repeat(101) } }, 'signature: must be {keyId, value}'],
      [
        { ...decision, signature: { keyId: keyIdOf(createPublicKey(newKey())), value: '' } },
        'no person of APPROVERS_FILE',
      ],
      [{ ...decision, signature: { keyId: '__proto__', value: '' } }, 'no person of APPROVERS_FILE'],
      [{ ...decision, revertTo: { network: 'card', wallet: 'x', wallet_details: { a: 'x'.repeat(60_000) } } }, '50000'],
      [{ ...decision, revertTo: { network: 'card', wallet: 'x', wallet_details: { deep } } }, 'levels deep'],
    ];
    for (const [sent, why] of bad) expect(await refusalOf(sendRaw(handle, sent))).toContain(why);
    await untouched(handle, decision, followUp);
  });
});

describe.concurrent('a decision that is signed by who may', () => {
  test('is carried out, and its record names person and key', async () => {
    const { handle, decision, followUp } = await parked();
    await handle.decide(decision, { signer: KEYS.ann });
    const { decisions } = await ended(handle, { followUp });
    expect(decisions?.slice(0, 1)).toMatchObject([
      { action: 'finish', by: 'Ann Smith', keyId: keyIdOf(createPublicKey(KEYS.ann)) },
    ]);
    expect(JSON.stringify(decisions)).not.toContain('signature');
    expect(atService(lab, followUp).order.wallet_to_details).toEqual(GOOD_CARD);
  });

  test('counts where the key is elsewhere and only signs, whatever order the fields come in', async () => {
    const { handle, decision, followUp } = await parked();
    const texts: string[] = [];
    const { wallet_details, by, ...rest } = decision;
    const signer = {
      keyId: keyIdOf(createPublicKey(KEYS.annAgain)),
      sign: async (text: Buffer) => {
        texts.push(text.toString());
        return sign(null, text, KEYS.annAgain);
      },
    };
    await handle.decide({ wallet_details, order_uuid: null as never, by, ...rest }, { signer });
    expect(texts).toHaveLength(1);
    expect(texts[0]).toMatch(/^payment-orders signature 1\n\{"choice":\{"action":"finish","by":"Ann Smith",/);
    await ended(handle, { followUp });
  });

  test('is taken once where two come at the same time', async () => {
    const { handle, decision, followUp } = await parked();
    const two = await Promise.allSettled([
      handle.decide(decision, { signer: KEYS.ann }),
      handle.decide({ ...decision, by: 'Bob Jones', wallet_details: OTHER_CARD }, { signer: KEYS.bob }),
    ]);
    expect(two.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    const { decisions } = await ended(handle, { followUp });
    expect(decisions?.map(({ action }) => action)).toEqual(['finish', 'accept']);
    expect(executions(lab, followUp)).toBe(1);
  });

  test('counts on an order that was cancelled', async () => {
    const { handle } = await parked();
    await lab.temporal.client.workflow.getHandle(handle.workflowId).cancel();
    const { revision } = await parkedFor(handle, 'it was cancelled');
    const accept = { action: 'accept', by: 'Cid Low', reason: 'cancelled', revision } as const;
    await handle.decide(accept, { signer: KEYS.cid });
    expect(await handle.result()).toMatchObject({ decisions: [{ by: 'Cid Low' }] });
  });
});
