import { expect, test, vi } from 'vitest';
import { orderInput } from '../../support/inputs.js';
import { newOrderId, useLab } from '../../support/lab.js';
import { serviceView } from './service-view.fixture.js';

vi.setConfig({ testTimeout: 170_000 });

const lab = useLab({ callbacks: false, pace: { settleWindowMs: { atOnce: 20_000, deposit: 20_000 } } });

test.each(['once', 'never'] as const)(
  'a failover while a refusal is proven: what callers heard as rejected is not sent (resend: %s)',
  async (resend) => {
    const orderId = newOrderId('refused');
    const handle = await lab.orders.start(
      'withdraw',
      orderInput('withdraw', orderId, { marker: 'create=400', resend }),
    );
    const told = await handle.created().catch((error: unknown) => error);
    expect(told).toMatchObject({ type: 'OrderRejected' });
    expect(serviceView(lab, orderId)).toMatchObject({ creates: 1, executed: 0 });
    // Every answer within the window after it names the failover, as `failedOverAtMs` does in production.
    await lab.replaceWorkers({ restoredAtMs: Date.now() });
    await expect(handle.result()).rejects.toMatchObject({ type: 'OrderRejected' });
    expect(serviceView(lab, orderId)).toMatchObject({ creates: 1, executed: 0 });
  },
);
