import fc from 'fast-check';
import { expect, vi } from 'vitest';
import type { OrderHandle } from '../../src/client/order-handle.js';
import { callbackUrl } from '../../src/contract/callback-url.js';
import { DEFAULT_ACCOUNT } from '../../src/contract/names.js';
import { resetTo, resettableEvents, runOf } from '../reliability/reset.fixture.js';
import { decideOn, isOvertaken, waysOut } from './decisions.fixture.js';
import { atService, executedTwice, type Known, type Model, type Real } from './model.fixture.js';
import { inputOf, type Plan, plans } from './plans.fixture.js';

/** Most that a command waits for something that need not come. */
const PATIENCE_MS = 1_500;

type Command = fc.AsyncCommand<Model, Real>;

/** A command about one of the orders started so far. Afterwards nothing may have been paid twice. */
class OnOrder implements Command {
  #about?: string;

  constructor(
    private readonly label: string,
    private readonly n: number,
    private readonly act: (known: Known, handle: OrderHandle, real: Real) => Promise<void>,
  ) {}

  check = (model: Readonly<Model>): boolean => model.size > 0;

  async run(model: Model, real: Real): Promise<void> {
    const [orderId, known] = [...model][this.n % model.size] ?? [];
    if (!orderId || !known) return;
    this.#about = orderId;
    await this.act(known, real.lab.orders.order(orderId), real);
    expect(executedTwice(real)).toEqual([]);
  }

  toString = (): string => `${this.label}(${this.#about ?? 'not run'})`;
}

/** A command about the installation. */
class OnLab implements Command {
  constructor(
    private readonly label: string,
    private readonly act: (real: Real) => Promise<void>,
  ) {}

  check = (): boolean => true;

  async run(_model: Model, real: Real): Promise<void> {
    await this.act(real);
    expect(executedTwice(real)).toEqual([]);
  }

  toString = (): string => this.label;
}

class Start implements Command {
  constructor(private readonly plan: Plan) {}

  check = (): boolean => true;

  async run(model: Model, real: Real): Promise<void> {
    const orderId = `${real.prefix}${model.size}`;
    const input = inputOf(this.plan, orderId);
    const { attached } = await real.lab.orders.start(this.plan.type, input);
    expect(attached).toBe(false);
    model.set(orderId, { plan: this.plan, input, cancelled: false, closedAbsent: false });
    expect(executedTwice(real)).toEqual([]);
  }

  toString = (): string => `start(${JSON.stringify(this.plan)})`;
}

const startSame = (n: number) =>
  new OnOrder('start the same again', n, async ({ plan, input }, _handle, { lab }) => {
    expect((await lab.orders.start(plan.type, input)).attached).toBe(true);
  });

const startOther = (n: number) =>
  new OnOrder('start another under its id', n, async ({ plan, input }, _handle, { lab }) => {
    const other = { ...input, resend: input.resend === 'never' ? 'once' : 'never' } as const;
    await expect(lab.orders.start(plan.type, other)).rejects.toMatchObject({
      name: 'ConflictError',
      subject: 'order',
      fields: ['resend'],
    });
  });

const startAgain = (n: number) =>
  new OnOrder('start again', n, async ({ plan, input }, handle, { lab }) => {
    try {
      await lab.orders.start(plan.type, input, { again: true });
    } catch (error) {
      // Allowed only after an end that says that no order exists.
      expect(error).toMatchObject({ name: 'RefusedError', subject: 'order', request: 'again', id: handle.orderId });
    }
  });

type CallbackKind = 'new' | 'old' | 'lying' | 'forged';

/** A callback as anybody could send it: only one with our token passes, and only a look-up counts. */
const callback = (n: number, kind: CallbackKind) =>
  new OnOrder(`${kind} callback`, n, async (_known, { orderId }, { lab }) => {
    const { baseUrl = '', tokenKeys = [] } = lab.config.callback ?? {};
    const url = callbackUrl(baseUrl, tokenKeys[0] ?? '', { kind: 'order', account: DEFAULT_ACCOUNT, orderId });
    const [at] = atService(lab, orderId);
    const status = { new: at?.order.status ?? 'new', old: 'new', lying: 'completed', forged: 'completed' }[kind];
    const answer = await fetch(kind === 'forged' ? url.replace(/.$/, (last) => (last === 'A' ? 'Q' : 'A')) : url, {
      method: 'POST',
      body: JSON.stringify({ order_uuid: at?.order.order_uuid, status }),
    });
    expect(kind === 'forged' ? [404] : [200, 429, 503]).toContain(answer.status);
  });

const awaitPoll = (n: number) =>
  new OnOrder('wait for a look-up', n, async (_known, handle, { lab }) => {
    const before = lab.requestsOf(handle.orderId).length;
    const asked = () => lab.requestsOf(handle.orderId).length > before;
    // Orders that wait for a person are not looked up.
    if (await handle.isOpen()) await vi.waitUntil(asked, { timeout: PATIENCE_MS, interval: 20 }).catch(() => undefined);
  });

const cancel = (n: number) =>
  new OnOrder('cancel', n, async (known, { workflowId }, { lab }) => {
    known.cancelled = true;
    const closed = (error: unknown) => expect(error).toMatchObject({ name: 'WorkflowNotFoundError' });
    await lab.temporal.client.workflow.getHandle(workflowId).cancel().catch(closed);
  });

/** Resets to any event. Where the service does not show the order the new run waits for the old attempt's 60 s. */
const reset = (n: number, part: number, patient: boolean) =>
  new OnOrder('reset', n, async (_known, handle, { lab }) => {
    if (!patient && atService(lab, handle.orderId).length === 0) return;
    const run = await runOf(lab, handle);
    const events = await resettableEvents(lab, run);
    const eventId = events[Math.floor(part * events.length)];
    if (eventId !== undefined) await resetTo(lab, run, eventId);
  });

const decide = (n: number, choice: number) =>
  new OnOrder('decide', n, async (known, handle, { lab }) => {
    const state = await handle.state().catch((error: unknown) => {
      if (!isOvertaken(error)) throw error;
    });
    if (state?.phase !== 'parked') return;
    const ways = waysOut(lab, handle.orderId, state);
    expect(ways, state.attention?.reason).not.toEqual([]);
    const way = ways[choice % ways.length];
    if (!way) return;
    expect(await decideOn(handle, { ...state, revision: state.revision - 1 }, way), 'a stale revision').toBe(false);
    if (way.action === 'close-absent') known.closedAbsent = true;
    await decideOn(handle, state, way);
  });

/** Other workers take over at once; what the old ones have begun goes on beside them. */
const crash = () =>
  new OnLab('restart the workers', async ({ lab, leaving }) => {
    leaving.push(lab.stopWorkers());
    await lab.startWorkers();
  });

const failLookUps = (share: number) =>
  new OnLab(`fail ${share} of the look-ups`, async ({ lab }) =>
    lab.sandbox.set({ faults: { 'status.500': share, 'list.502': share } }),
  );

const toggleService = (down: boolean) =>
  new OnLab(down ? 'the service goes down' : 'the service is back', async ({ lab }) =>
    lab.sandbox.set({ serverDown: down }),
  );

/** Sequences of commands. `patient`: resets may cost a minute each. */
export function commands({ patient }: { patient: boolean }): fc.Arbitrary<Command[]> {
  const order = fc.nat({ max: 1_000 });
  const kinds = fc.constantFrom<CallbackKind>('new', 'old', 'lying', 'forged');
  const weighted: [weight: number, command: fc.Arbitrary<Command>][] = [
    [6, plans.map((plan) => new Start(plan))],
    [1, order.map(startSame)],
    [1, order.map(startOther)],
    [1, order.map(startAgain)],
    [2, fc.tuple(order, kinds).map(([n, kind]) => callback(n, kind))],
    [3, order.map(awaitPoll)],
    [1, order.map(cancel)],
    [3, fc.tuple(order, fc.nat({ max: 99 })).map(([n, percent]) => reset(n, percent / 100, patient))],
    [4, fc.tuple(order, fc.nat({ max: 5 })).map(([n, choice]) => decide(n, choice))],
    [1, fc.constant(undefined).map(crash)],
    [1, fc.constantFrom(0, 0, 0.5).map(failLookUps)],
    [1, fc.constantFrom(false, false, true).map(toggleService)],
  ];
  const command = fc.oneof(...weighted.map(([weight, arbitrary]) => ({ weight, arbitrary })));
  return fc.array(command, { minLength: 30, maxLength: 40, size: 'max' });
}
