import { describe, expect, test, vi } from 'vitest';
import { serviceOf } from '../../../scripts/service-of.js';
import type { OrderHandle } from '../../../src/client/order-handle.js';
import { ITS_UUID } from '../../../src/contract/attention.js';
import { searchAttribute } from '../../../src/contract/names.js';
import type { OrderType } from '../../../src/contract/order/types.js';
import { KEYS, testApprovers } from '../../support/approvers.js';
import { orderInput } from '../../support/inputs.js';
import { newOrderId, openLab, useLab } from '../../support/lab.js';
import { parkedFor, type Steered, startSteered, TWO_CARDS } from '../compensation/parked-orders.fixture.js';
import { serviceView } from '../create/service-view.fixture.js';
import { attentionSays, openTwoAccounts, PLACES } from '../create/two-accounts.fixture.js';
import { detailsOf, filledIn, paste, pasteableIn } from './details.fixture.js';

// The orders wait most of the time, and not for each other.
vi.setConfig({ maxConcurrency: 20 });

const WINDOW_MS = 1_500;

const lab = useLab({
  pace: { settleWindowMs: { atOnce: WINDOW_MS, deposit: WINDOW_MS } },
  limits: { caps: new Map([['usd', '150']]) },
});

/** A create that is answered with 500 and not executed, beside others of the same id that were made past our workflows. */
async function startBeside(amounts: string[]): Promise<OrderHandle> {
  const input = orderInput('withdraw', newOrderId('beside'), { marker: 'create=500-before duplicate=c' });
  const handle = await lab.orders.start('withdraw', input);
  await vi.waitFor(() => expect(serviceView(lab, handle.orderId).creates).toBe(1), 60_000);
  const service = await serviceOf(lab.sandbox);
  for (const amount of amounts) await service.createOrder('withdraw', { ...input.order, amount });
  return handle;
}

const steered = (type: OrderType, options: Steered) => async () => (await startSteered(lab, type, options)).handle;

const HALF = 'outcome=completed_partially fraction=0.4';
const EXACT = { amount: undefined, amount_to: '95.5' };

interface Stuck {
  code: string;
  start: () => Promise<OrderHandle>;
  /** The actions that can be pasted as they stand, in their order. */
  pasted: string[];
  /** What the list shows as its amount. */
  amount?: string;
}

const STUCK: Record<string, Stuck> = {
  'an uncertain create': {
    code: 'uncertain-create',
    start: steered('withdraw', { marker: 'create=500-before', resend: 'never' }),
    pasted: ['resend', 'close-absent'],
  },
  'another payment under its id': {
    code: 'conflict',
    start: () => startBeside(['99']),
    pasted: ['adopt', 'close-absent'],
  },
  'several under its id, one of them ours': {
    code: 'conflict',
    start: () => startBeside(['99', '12.50']),
    pasted: ['adopt'],
  },
  'several under its id, none of them ours': {
    code: 'conflict',
    start: () => startBeside(['98', '99']),
    pasted: ['adopt', 'adopt', 'close-absent'],
  },
  'an amount above the cap': {
    code: 'over-cap',
    start: steered('exchange', { marker: '' }),
    pasted: ['approve', 'refuse'],
    amount: '200 usd → btc',
  },
  'a payout in part': {
    code: 'remainder',
    start: steered('withdraw', { marker: HALF, compensation: 'ask' }),
    pasted: ['finish', 'accept'],
  },
  'an exchange in part, with two ways back and one on': {
    code: 'remainder',
    start: steered('exchange_withdraw', { marker: `${HALF} left=both`, compensation: 'ask' }),
    pasted: ['finish', 'finish', 'revert', 'accept'],
    amount: '100 usd → usdt',
  },
  'an exact payout in part': {
    code: 'remainder',
    start: steered('exchange_withdraw', { marker: `${HALF} left=both`, compensation: 'ask', order: EXACT }),
    pasted: ['finish', 'finish', 'revert', 'accept'],
    amount: 'usd → 95.5 usdt',
  },
  'cards of which nobody knows which is missing': {
    code: 'remainder',
    start: steered('withdraw', { marker: HALF, compensation: 'ask', order: TWO_CARDS }),
    pasted: ['accept'],
  },
};

const attributesOf = async ({ workflowId }: OrderHandle) =>
  (await lab.temporal.client.workflow.getHandle(workflowId).describe()).typedSearchAttributes;

/** What needs no more than a name and a reason. */
const completeIn = (details: string) => pasteableIn(details).filter(({ json }) => !json.includes(ITS_UUID));

describe.concurrent('what the page of a stuck order holds to be pasted', () => {
  test.for(Object.entries(STUCK))('%s: every decision is taken, its placeholders are not', async ([, stuck]) => {
    const { code, start, pasted, amount = '12.50 usd' } = stuck;
    const first = await start();
    const { attention, decisions } = await parkedFor(first);
    expect(attention?.code).toBe(code);
    const details = await detailsOf(lab, first);
    const found = completeIn(details);
    expect(found.map(({ update }) => update)).toEqual(pasted);
    // The state holds the same as structure, and those that need more besides.
    const complete = decisions.filter(({ needs }) => needs === undefined);
    expect(complete.map(({ decision }) => decision)).toEqual(found.map(({ json }) => JSON.parse(json)));
    expect(new Set(decisions.map(({ decision }) => decision.action))).toEqual(new Set(attention?.allowed));

    const attributes = await attributesOf(first);
    expect(attributes.get(searchAttribute.attentionReason)).toBe(code);
    expect(attributes.get(searchAttribute.attentionSince)?.toISOString()).toBe(attention?.since);
    expect(attributes.get(searchAttribute.amount)).toBe(amount);

    for (const index of found.keys()) {
      const handle = index === 0 ? first : await start();
      await parkedFor(handle);
      const { json = '' } = completeIn(await detailsOf(lab, handle))[index] ?? {};
      const refused = { cause: { type: 'DecisionRefused' } };
      await expect(paste(lab, handle, 'decide', json)).rejects.toMatchObject(refused);
      await expect(paste(lab, handle, 'decide', json.replace('<your name>', 'ann'))).rejects.toMatchObject(refused);
      await expect(paste(lab, handle, 'decide', filledIn(json))).resolves.toMatchObject({ decisions: [] });
      await vi.waitFor(async () => {
        const said = (await lab.orders.order(handle.orderId).state()).attention?.since;
        expect(said).not.toBe(attention?.since);
      }, 60_000);
    }
  });

  test('the uuid that the service tells goes into what adopts its order; without it that is refused', async () => {
    const input = orderInput('withdraw', newOrderId('late'), { marker: 'create=500-before', resend: 'never' });
    const handle = await lab.orders.start('withdraw', input);
    await parkedFor(handle);
    const service = await serviceOf(lab.sandbox);
    const { order_uuid: orderUuid } = await service.createOrder('withdraw', input.order);
    const details = await detailsOf(lab, handle);
    expect(details).toContain(`Ask the service about order id \`${handle.orderId}\`.`);
    const [adopt] = pasteableIn(details);
    expect(adopt?.update).toBe('adopt');
    const json = filledIn(adopt?.json ?? '');
    await expect(paste(lab, handle, 'decide', json)).rejects.toMatchObject({ cause: { type: 'DecisionRefused' } });
    await paste(lab, handle, 'decide', json.replace(ITS_UUID, orderUuid));
    expect(await handle.result()).toMatchObject({ outcome: 'completed', order: { order_uuid: orderUuid } });
  });

  test('says whether something was sent, and of what exists how it stands at the service', async () => {
    const { handle: above } = await startSteered(lab, 'exchange', { marker: '' });
    await parkedFor(above);
    expect(await detailsOf(lab, above)).toContain('**Sent**: nothing, by the record');
    const { handle: half } = await startSteered(lab, 'withdraw', { marker: HALF, compensation: 'ask' });
    await parkedFor(half);
    expect(await detailsOf(lab, half)).toMatch(
      /^\*\*Sent\*\*: yes. The service shows `completed_partially`, order `[\da-f-]{36}`$/m,
    );
  });

  test('what lists show goes with the attention', async () => {
    const { handle } = await startSteered(lab, 'withdraw', { marker: HALF, compensation: 'ask' });
    await parkedFor(handle);
    const [accept] = pasteableIn(await detailsOf(lab, handle)).filter(({ update }) => update === 'accept');
    await paste(lab, handle, 'decide', filledIn(accept?.json ?? ''));
    await handle.result();
    const attributes = await attributesOf(handle);
    const { needsAttention, attentionReason, attentionSince, amount } = searchAttribute;
    expect(attributes.get(needsAttention)).toBe(false);
    expect([attentionReason, attentionSince, amount].map((key) => attributes.get(key as typeof amount))).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
  });
});

test('an order whose account another worker may serve: the approval that its page holds is taken', async () => {
  const accounts = await openTwoAccounts(WINDOW_MS);
  const input = orderInput('withdraw', newOrderId('followed'), { marker: 'after_ms=3000' });
  const handle = await accounts.lab.orders.start('withdraw', input);
  await accounts.workAt(PLACES.first);
  await handle.created();
  await accounts.workAt(PLACES.moved);
  await attentionSays(handle, /back\. After an approval only/);
  const found = pasteableIn(await detailsOf(accounts.lab, handle));
  expect(found.map(({ update }) => update)).toEqual(['approve']);
  await paste(accounts.lab, handle, 'decide', filledIn(found[0]?.json ?? ''));
  expect(await handle.result()).toMatchObject({ outcome: 'completed', decisions: [{ action: 'approve', by: 'ben' }] });
});

test('where decisions are signed the page names the command, and holds nothing that it could not send', async () => {
  const signed = await openLab({ limits: { approvers: testApprovers() } });
  try {
    const { handle } = await startSteered(signed, 'withdraw', { marker: HALF, compensation: 'ask' });
    const { onlyByCommand, decisions, revision } = await parkedFor(handle);
    expect({ onlyByCommand, ways: decisions.length }).toEqual({ onlyByCommand: 'signed', ways: 2 });
    const details = await detailsOf(signed, handle);
    expect(details).toContain(`requires signed decisions: \`payment-orders order show ${handle.orderId}\``);
    expect(pasteableIn(details)).toEqual([]);
    const accept = { action: 'accept', by: 'Ann Smith', reason: 'as agreed', revision } as const;
    await handle.decide(accept, { signer: KEYS.ann });
    expect(await handle.result()).toMatchObject({ outcome: 'completed_partially' });
  } finally {
    await signed.close();
  }
});
