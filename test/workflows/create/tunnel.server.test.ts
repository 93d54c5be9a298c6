import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Secret } from '../../../src/config.js';
import {
  CLIENT_CERTIFICATE,
  CLIENT_FOREIGN_CERTIFICATE,
  CLIENT_KEY,
  TLS_CERTIFICATE,
} from '../../payment-service/certificates.fixture.js';
import {
  answers,
  CLIENTS_DEMANDED,
  type Front,
  openFront,
  passes,
  startProxy,
  type TestProxy,
} from '../../payment-service/tunnel.fixture.js';
import { orderInput } from '../../support/inputs.js';
import { accountWith, type Lab, newOrderId, openLab } from '../../support/lab.js';
import { serviceView } from './service-view.fixture.js';

const CREATE = '/v2/order/withdraw';

let lab: Lab;
let front: Front;
let proxy: TestProxy;
beforeAll(async () => {
  lab = await openLab({ workers: false });
  front = await openFront(lab.sandbox.url, CLIENTS_DEMANDED);
  proxy = await startProxy();
  const route = {
    baseUrl: front.url,
    caCertificates: TLS_CERTIFICATE,
    clientCertificate: { chain: CLIENT_CERTIFICATE, key: new Secret(CLIENT_KEY) },
    proxy: { host: '127.0.0.1', port: proxy.port, credentials: new Secret('worker:zz-password') },
  };
  await lab.startWorkers(accountWith(lab, route));
});
afterAll(async () => {
  await lab?.close();
  await proxy?.close();
  await front?.close();
});

/** The order's only open activity: what its workflow waits for. */
async function waitsFor(orderId: string): Promise<string | undefined> {
  const handle = lab.temporal.client.workflow.getHandle(lab.orders.order(orderId).workflowId);
  const { raw } = await handle.describe();
  return raw.pendingActivities?.[0]?.activityType?.name ?? undefined;
}

const start = (label: string) =>
  // Without a re-send an uncertain create would park.
  lab.orders.start('withdraw', orderInput('withdraw', newOrderId(label), { resend: 'never' }));

const ONCE = { creates: 1, executed: 1, blindCreates: 0 };

describe('orders through a proxy to a service that demands a certificate: each is executed once', () => {
  test('when all is well', async () => {
    const handle = await start('well');
    expect(await handle.result()).toMatchObject({ outcome: 'completed', adopted: false });
    expect(serviceView(lab, handle.orderId)).toEqual(ONCE);
  });

  test.for<[string, () => void, () => void]>([
    [
      'the proxy refuses',
      () => {
        proxy.rule = answers('HTTP/1.1 407 Who are you\r\ncontent-length: 0\r\n\r\n');
      },
      () => {
        proxy.rule = passes;
      },
    ],
    [
      'the service refuses the certificate',
      () => front.setTls({ ca: CLIENT_FOREIGN_CERTIFICATE }),
      () => front.setTls({ ca: TLS_CERTIFICATE }),
    ],
  ])('when %s for a while: nothing is sent before it gives in', async ([, refuse, giveIn]) => {
    refuse();
    const handle = await start('refused');
    await expect.poll(() => waitsFor(handle.orderId), { timeout: 60_000 }).toBe('lookUpOrder');
    expect(lab.requestsOf(handle.orderId)).toEqual([]);
    giveIn();
    expect(await handle.result()).toMatchObject({ outcome: 'completed', adopted: false });
    expect(serviceView(lab, handle.orderId)).toEqual(ONCE);
  });

  test('when the tunnel breaks before the answer to the create: it is found and adopted', async () => {
    let broken = 0;
    front.lets = (what, path, farPort) => {
      if (path !== CREATE || what === 'request') return true;
      broken += 1;
      proxy.cut(farPort);
      return false;
    };
    const handle = await start('answer-lost');
    expect(await handle.result()).toMatchObject({ outcome: 'completed', adopted: true });
    front.lets = () => true;
    // Creates of others beside it break, too.
    expect(broken).toBeGreaterThan(0);
    expect(serviceView(lab, handle.orderId)).toEqual(ONCE);
  });
});
