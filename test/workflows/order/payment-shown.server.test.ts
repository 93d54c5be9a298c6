import { describe, expect, test, vi } from 'vitest';
import type { OrderHandle } from '../../../src/client/order-handle.js';
import { stateText } from '../../../src/starter/text.js';
import { orderInput } from '../../support/inputs.js';
import { newOrderId, useLab } from '../../support/lab.js';
import { decideNow, parkedFor, startSteered, TWO_CARDS } from '../compensation/parked-orders.fixture.js';
import { detailsOf } from './details.fixture.js';

// The orders wait most of the time, and not for each other.
vi.setConfig({ maxConcurrency: 20 });

const lab = useLab({ limits: { caps: new Map([['usd', '150']]) } });

const IBAN = 'DE89370400440532013000';
const UNCERTAIN = 'create=500-before';

const shownOf = async (handle: OrderHandle) => ({
  page: await detailsOf(lab, handle),
  text: stateText(handle, await handle.state()),
});

describe.concurrent('what a person decides on', () => {
  test('the page and the command line show amount, payee, description, reference, batch and starter', async () => {
    const orderId = newOrderId('known');
    const input = orderInput('withdraw', orderId, {
      marker: UNCERTAIN,
      ...{ resend: 'never', reference: 'inv/7', batchId: 'payroll-7', metadata: { startedBy: 'ann' } },
    });
    const description = `Refund of a \`kettle\` ${input.order.description}`;
    const handle = await lab.orders.start('withdraw', { ...input, order: { ...input.order, description } });
    await parkedFor(handle);
    const { page, text } = await shownOf(handle);
    const shown = 'Refund of a kettle [sandbox create=500-before]';
    expect(page).toContain(
      `**Payment**: \`12.50 usd\` to \`****1111 (card)\` · description \`${shown}\` · reference \`inv/7\` · batch \`payroll-7\` · started by \`ann\``,
    );
    expect(text).toMatch(/^payment +12\.50 usd$/m);
    expect(text).toMatch(/^to +\*{4}1111 \(card\)$/m);
    expect(text).toMatch(/^batch +payroll-7$/m);
    expect(`${page}${text}`).not.toContain('41111111');
  });

  test('an order that is not parked shows its amount on the command line, and no more on its page', async () => {
    const { handle } = await startSteered(lab, 'deposit', { marker: 'never' });
    await handle.created();
    const { page, text } = await shownOf(handle);
    expect(text).toMatch(/^payment +250 usdt$/m);
    expect(page).not.toContain('**Payment**');
  });

  test('a description does not show the name of the payee, nor code of the page', async () => {
    const { handle } = await startSteered(lab, 'withdraw', {
      marker: UNCERTAIN,
      resend: 'never',
      order: {
        currency: 'eur',
        network: 'sepa',
        wallet: IBAN,
        wallet_details: { recipient_name: 'Anna Miller', recipient_email: 'anna@example.com' },
        description: `\`salary\` **paid** for MILLER, anna [sandbox ${UNCERTAIN}]`,
      },
    });
    await parkedFor(handle);
    const { page, text } = await shownOf(handle);
    expect(page).toContain('to `****3000 (sepa)` · description `salary **paid** for ****, **** [sandbox');
    expect(`${page}${text}`).not.toMatch(/anna|miller|DE8937/i);
  });

  test('several cards are named by their ends', async () => {
    const { handle } = await startSteered(lab, 'withdraw', { marker: UNCERTAIN, resend: 'never', order: TWO_CARDS });
    await parkedFor(handle);
    expect((await shownOf(handle)).page).toContain('to `****1111, ****4444 (multiple_cards)`');
  });

  test('a remainder shows what is left, and after a decision who took it', async () => {
    const marker = 'outcome=completed_partially fraction=0.4';
    const { handle } = await startSteered(lab, 'withdraw', { marker, compensation: 'ask' });
    await parkedFor(handle);
    const { page, text } = await shownOf(handle);
    expect(page).toContain('**Payment**: `12.50 usd` to `****1111 (card)` · left `5 usd`');
    expect(text).toMatch(/^left +5 usd$/m);
    await handle.decide({
      ...{ action: 'finish', by: 'ann', reason: 'card 4111111111111111 is right' },
      revision: (await handle.state()).revision,
    });
    await vi.waitFor(async () => expect((await handle.state()).decided).toHaveLength(1), 10_000);
    const after = await shownOf(handle);
    expect(after.page).toMatch(/\*\*Decided\*\*: finish by `ann` \(20.* UTC\): `card \*{4} is right`/);
    expect(after.text).toMatch(/^decided +finish unpaid as withdraw by ann: card \*{4} is right \(/m);
  });

  test('an approval that leads to another question shows who approved', async () => {
    const { handle } = await startSteered(lab, 'withdraw', {
      marker: UNCERTAIN,
      resend: 'never',
      order: { amount: '400' },
    });
    await parkedFor(handle, 'cap');
    await decideNow(handle, 'approve');
    await parkedFor(handle, 'no such order');
    expect((await shownOf(handle)).page).toContain('**Decided**: approve by `ann`');
  });
});
