import { afterEach, expect, test } from 'vitest';
import { NotDecidedYetError } from '../../../src/client/errors.js';
import type { ReconcileState } from '../../../src/client/reconcile.js';
import { orderInput } from '../../support/inputs.js';
import { type Lab, newOrderId, openLab } from '../../support/lab.js';
import { keyOf } from '../../temporal/stored-bytes.fixture.js';

let lab: Lab | undefined;
afterEach(() => lab?.close());

test.each([
  { payloads: 'plain', encryptionKeys: undefined },
  { payloads: 'encrypted', encryptionKeys: [keyOf('2026-11')] },
])(
  'while it goes on, who waits reads why the last attempt failed: payloads are $payloads',
  async ({ encryptionKeys }) => {
    lab = await openLab({ quiet: true, callbacks: false, encryptionKeys });
    const states: ReconcileState[] = [];
    const options = { timeoutMs: 5_000, onState: (state: ReconcileState) => states.push(state) };
    await expect(lab.orders.reconcile({ account: 'other' }, options)).rejects.toThrow(NotDecidedYetError);
    expect(states.at(-1)).toEqual({ trouble: 'this worker does not serve the account other; another one has to' });
  },
);

test('an order that the list shows under another form of its id does not hold up a reconciliation', async () => {
  lab = await openLab({ quiet: true, callbacks: false });
  const marker = 'list=echo-id-upper list_times=all';
  const inputs = [
    orderInput('withdraw', newOrderId('other-form'), { marker }),
    orderInput('withdraw', newOrderId('as-it-is')),
  ];
  const handles = await Promise.all(inputs.map((input) => lab?.orders.start('withdraw', input)));
  await Promise.all(handles.map((handle) => handle?.result()));
  const { classes } = await lab.orders.reconcile({}, { timeoutMs: 60_000 });
  expect(classes).toMatchObject({ equal: 2, missingAtService: 0 });
});
