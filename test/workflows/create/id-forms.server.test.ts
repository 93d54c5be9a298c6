import { describe, expect, test, vi } from 'vitest';
import type { Decision } from '../../../src/contract/order/messages.js';
import { orderInput } from '../../support/inputs.js';
import { newOrderId, useLab } from '../../support/lab.js';
import { decideNow, parkedFor } from '../compensation/parked-orders.fixture.js';
import { serviceView } from './service-view.fixture.js';

// The orders wait most of the time, and not for each other.
vi.setConfig({ maxConcurrency: 20 });

const lab = useLab({ callbacks: false });

/** An order that was executed and that the service shows under another form of its id, in create, status and list. */
async function startShownAs(form: string, id: string, create: string) {
  const shown = `status=${form} status_times=all list=${form} list_times=all`;
  const input = orderInput('withdraw', id, { marker: `${create} duplicate=c pay_ms=20 ${shown}` });
  const startedAtMs = Date.now();
  const handle = await lab.orders.start('withdraw', input);
  return { handle, startedAtMs };
}

const digits = () => `000${Date.now()}${Math.floor(Math.random() * 1_000)}`;
const FORMS: [form: string, id: () => string][] = [
  ['echo-id-upper', () => newOrderId('case')],
  ['echo-id-cut', () => newOrderId('a-long-id-that-a-service-may-not-store-as-a-whole')],
  ['echo-id-no-zeros', digits],
  ['echo-id-escaped', () => `${newOrderId('colon')}:1`],
];

describe.concurrent('an order that the service has under another form of its id', () => {
  test.for(FORMS)('%s in the answer to the create: an operator is asked at once', async ([form, id]) => {
    const { handle, startedAtMs } = await startShownAs(form, id(), `create=${form}`);
    const { attention } = await parkedFor(handle, 'differs in order_id (asked for');
    expect(Date.now() - startedAtMs).toBeLessThan(60_000);
    // The service said itself that it is our create.
    expect(attention?.allowed).toEqual(['adopt', 'close-absent']);
    expect(serviceView(lab, handle.orderId)).toEqual({ creates: 1, executed: 1, blindCreates: 0 });
  });

  test.for(FORMS)('%s in look-ups after a 500: an operator is asked at once, nothing is sent', async ([form, id]) => {
    const { handle } = await startShownAs(form, id(), 'create=500');
    const { attention } = await parkedFor(handle, 'differs in order_id (asked for');
    expect(attention?.allowed).toEqual(['adopt', 'close-absent']);
    const { decisions } = await handle.state();
    const [{ decision } = {}] = decisions?.filter((choice) => choice.decision.action === 'adopt') ?? [];
    await handle.decide({ ...decision, by: 'ann', reason: 'the service confirms it' } as Decision);
    expect(await handle.result()).toMatchObject({ outcome: 'completed', adopted: true });
    expect(lab.sandbox.stats().createsByOrderId[handle.orderId]).toBe(1);
  });

  test('ends as unresolved where a person closes it, and is not started again', async () => {
    const { handle } = await startShownAs('echo-id-upper', newOrderId('closed'), 'create=echo-id-upper');
    await parkedFor(handle, 'differs in order_id');
    await decideNow(handle, 'close-absent');
    await expect(handle.result()).rejects.toMatchObject({ name: 'UnresolvedError', closed: true });
    expect(serviceView(lab, handle.orderId)).toMatchObject({ creates: 1, executed: 1 });
  });
});
