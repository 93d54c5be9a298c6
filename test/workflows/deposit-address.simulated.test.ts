import { WorkflowFailedError } from '@temporalio/client';
import { beforeAll, describe, expect, test } from 'vitest';
import { serviceOf } from '../../scripts/service-of.js';
import type { DepositAddressResult } from '../../src/contract/address/address.js';
import { DEPOSIT_ADDRESS_WORKFLOW, ORDERS_TASK_QUEUE } from '../../src/contract/names.js';
import type { AddressCreateRequest } from '../../src/payment-service/queries.js';
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS, useGatedLab } from '../support/gated-lab.js';
import type { GateAnswer } from '../support/service-gate.js';

const lab = useGatedLab({
  CALLBACK_BASE_URL: 'https://b.example',
  CALLBACK_TOKEN_KEY: 'a-token-key-for-tests-only',
});
/** What happens to a create of one reference; anything else passes. */
const creates = new Map<string, (body: object) => Promise<GateAnswer> | GateAnswer>();

beforeAll(() => {
  lab.gate.rule = ({ path, body }) => {
    if (!path.endsWith('/deposit_address/create')) return undefined;
    const wanted = JSON.parse(body) as { callback_url: string };
    const ref = /\/a\.([^.]+)\./.exec(wanted.callback_url)?.[1] ?? '';
    return creates.get(ref)?.(wanted);
  };
});

const handleOf = (ref: string) =>
  lab.orders.client.workflow.getHandle<() => Promise<DepositAddressResult>>(`address:default:${ref}`);

const start = (ref: string) =>
  lab.orders.client.workflow.start(DEPOSIT_ADDRESS_WORKFLOW, {
    taskQueue: ORDERS_TASK_QUEUE,
    workflowId: `address:default:${ref}`,
    args: [{ ref, address: { currency: 'usdt', network: 'tron' } }],
  });

/** The result within that much virtual time; rejects with the failure the workflow ended with. */
async function resultOf(ref: string, withinMs: number): Promise<DepositAddressResult> {
  const ended = async () => (await handleOf(ref).describe()).status.name !== 'RUNNING';
  await lab.skipUntil(ended, withinMs / 20, withinMs);
  return handleOf(ref)
    .result()
    .catch((error: unknown) => {
      throw error instanceof WorkflowFailedError ? error.cause : error;
    });
}

async function seen(ref: string) {
  const { searchAttributes, historyLength } = await handleOf(ref).describe();
  return { needsAttention: searchAttributes.PaymentNeedsAttention?.[0] === true, events: historyLength };
}

/** Requests of the address operations since a moment, oldest first. */
/** Creates, or searches, of which each begins with the first page of the list. */
const asked = (operation: 'create' | 'list', fromMs = 0) =>
  lab.gate.requests.filter(
    ({ path, atMs, body }) =>
      path.endsWith(`/deposit_address/${operation}`) && atMs >= fromMs && (JSON.parse(body).page ?? 1) === 1,
  );

/** The service without the gate. */
const behindTheGate = () => serviceOf(lab.sandbox);

/** Lets a create make its address, however it is answered. */
async function makeAddress(body: object): Promise<void> {
  await (await behindTheGate()).createDepositAddress(body as AddressCreateRequest);
}

describe('a create that cannot be sent', () => {
  test('is tried 50 times, then a person is told and it is tried on rarely: the history stays small', async () => {
    creates.set('busy', () => ({ status: 429, headers: { 'retry-after': '5' } }));
    const fromMs = Date.now();
    await start('busy');
    await lab.skipUntil(async () => (await seen('busy')).needsAttention, MINUTE_MS, HOUR_MS);
    expect(asked('create', fromMs)).toHaveLength(50);
    await lab.skip(30 * DAY_MS);
    expect(asked('create', fromMs).length).toBeLessThan(90);
    expect((await seen('busy')).events).toBeLessThan(3_500);

    creates.delete('busy');
    expect(await resultOf('busy', 2 * DAY_MS)).toMatchObject({ adopted: false, address: { currency: 'usdt' } });
    expect((await seen('busy')).needsAttention).toBe(false);
  }, 120_000);

  test('because the service is down for a day waits without an event, with a person told', async () => {
    const fromMs = Date.now();
    await lab.gate.shut();
    await start('down');
    await lab.skip(HOUR_MS);
    const before = await seen('down');
    expect(before.needsAttention).toBe(true);
    await lab.skip(DAY_MS);
    expect(await seen('down')).toEqual(before);
    expect(before.events).toBeLessThan(25);
    await lab.gate.open();
    expect(await resultOf('down', HOUR_MS)).toMatchObject({ adopted: false });
    expect(asked('create', fromMs)).toHaveLength(1);
  });
});

describe('a create without a clear answer', () => {
  test('is sent again once after three searches over 15 s, and ends as AddressAbsent after three more', async () => {
    creates.set('absent', () => ({ status: 500 }));
    const fromMs = Date.now();
    await start('absent');
    await expect(resultOf('absent', 10 * MINUTE_MS)).rejects.toMatchObject({ type: 'AddressAbsent' });
    const sends = asked('create', fromMs).map(({ atMs }) => atMs);
    expect(sends).toHaveLength(2);
    for (const [n, sentAtMs] of sends.entries()) {
      const untilMs = sends[n + 1] ?? Number.POSITIVE_INFINITY;
      const searches = asked('list', sentAtMs + 1).filter(({ atMs }) => atMs < untilMs);
      // The last one before a re-send is that attempt's own.
      expect(searches.length).toBeGreaterThanOrEqual(3);
      expect((searches[2]?.atMs ?? 0) - (searches[0]?.atMs ?? 0)).toBeGreaterThanOrEqual(15 * SECOND_MS);
    }
  });

  test('that made the address is found and not sent again', async () => {
    creates.set('made', async (body) => {
      await makeAddress(body);
      return { status: 502 };
    });
    const fromMs = Date.now();
    await start('made');
    const { adopted, address } = await resultOf('made', 10 * MINUTE_MS);
    expect(adopted).toBe(true);
    expect(address.callback_url).toContain('/a.made.');
    expect(asked('create', fromMs)).toHaveLength(1);
  });

  test('that made two addresses: the oldest one is used, the other is named and a person told', async () => {
    creates.set('two', async (body) => {
      await makeAddress(body);
      await makeAddress(body);
      return { status: 502 };
    });
    const fromMs = Date.now();
    await start('two');
    const { others, address } = await resultOf('two', 10 * MINUTE_MS);
    const { items } = await (await behindTheGate()).addresses().page({ limit: 100 });
    const mine = items.filter(({ callback_url }) => callback_url?.includes('/a.two.'));
    expect(mine.map(({ uuid }) => uuid).toSorted()).toEqual([address.uuid, ...(others ?? [])].toSorted());
    expect(others).toHaveLength(1);
    expect((await seen('two')).needsAttention).toBe(true);
    expect(asked('create', fromMs)).toHaveLength(1);
  });
});

describe('a create refused with 400', () => {
  test('ends as ServiceRejected after the address was searched for', async () => {
    creates.set('refused', () => ({ status: 400 }));
    const fromMs = Date.now();
    await start('refused');
    await expect(resultOf('refused', MINUTE_MS)).rejects.toMatchObject({ type: 'ServiceRejected' });
    // Before the create, and after it.
    expect([asked('create', fromMs).length, asked('list', fromMs).length]).toEqual([1, 2]);
  });

  test('is not believed when the address exists', async () => {
    creates.set('refused-but-made', async (body) => {
      await makeAddress(body);
      return { status: 400 };
    });
    const fromMs = Date.now();
    await start('refused-but-made');
    expect(await resultOf('refused-but-made', MINUTE_MS)).toMatchObject({ adopted: true });
    expect(asked('create', fromMs)).toHaveLength(1);
  });
});
