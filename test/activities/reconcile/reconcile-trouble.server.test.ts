import { afterEach, expect, test } from 'vitest';
import { NotDecidedYetError } from '../../../src/client/errors.js';
import type { ReconcileState } from '../../../src/client/reconcile.js';
import { type Lab, openLab } from '../../support/lab.js';
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
