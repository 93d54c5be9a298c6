import { rawValueTypeInfo, type TypeInfo } from '@temporalio/common';
import {
  ApplicationFailure,
  CancellationScope,
  condition,
  defineQuery,
  defineSignal,
  defineUpdate,
  setCurrentDetails,
  setHandler,
} from '@temporalio/workflow';
import { startDifferences } from '../../contract/differences/starts.js';
import { endsOrder, ORDER_UNRESOLVED } from '../../contract/failures.js';
import {
  BEGIN_UPDATE,
  CREATED_UPDATE,
  DECIDE_UPDATE,
  FINAL_UPDATE,
  ORDER_CALLBACK_SIGNAL,
  ORDER_STATE_QUERY,
} from '../../contract/names.js';
import type { OrderInput, OrderResult, ReceivedDepositInput, RunInput } from '../../contract/order/input-and-result.js';
import type { Decision, OrderState } from '../../contract/order/messages.js';
import { isOrderType, ORDER_TYPES, type OrderType, workflowTypeOf } from '../../contract/order/types.js';
import type { Order } from '../../contract/service-objects.js';
import { starterProblem } from '../../contract/signature.js';
import { withoutNulls } from '../../contract/without-nulls.js';
import { checkOrder, checkOrderShape, checkReceived, invalidInput, isOrderRun, type Refuse } from '../identity.js';
import { beforeEnd, handOver, isHandedOver } from '../outbox.js';
import { otherRun, required, takeSigned } from '../signed.js';
import { refusal } from './decision.js';
import { countEnd, startLookUps, startLookUpsAfterEnd } from './end.js';
import { emit } from './events.js';
import { setHold } from './hold.js';
import { currentDetails, knownOf } from './page.js';
import { marksOf } from './payment.js';
import { enterDone, orderState, showCancelled } from './show.js';
import { type OrderRun, openReceivedRun, openRun, orderIdOf } from './state.js';

type Steps<Result = OrderResult> = (run: OrderRun) => Promise<Result>;

/** Runs an order: checks that workflow id and input belong together, then runs its steps. */
export function runOrder(type: OrderType, input: OrderInput, follow: Steps): Promise<OrderResult> {
  const run = openRun(type, input);
  setBegin(run);
  setHold(run);
  return inFrame(run, toItsEnd(checkOrder, follow), endOrder);
}

/** Runs an order that a receipt made, of which only the service's id is known. */
export function runReceived(input: ReceivedDepositInput, follow: Steps): Promise<OrderResult> {
  const check = (run: OrderRun) => checkReceived(run, input);
  return inFrame(openReceivedRun(input), toItsEnd(check, follow), endOrder);
}

/** Runs look-ups of an order whose own run has ended. They send nothing. */
export function runAfterEnd<Result>(run: OrderRun, follow: Steps<Result>): Promise<Result> {
  return inFrame(run, follow, () => {
    // Fails callers that wait for an order.
    run.failure = ApplicationFailure.nonRetryable(`order ${orderIdOf(run)} is not followed after its end`);
  });
}

const toItsEnd =
  (check: (run: OrderRun) => void, follow: Steps): Steps =>
  async (run) => {
    check(run);
    const result = await follow(run);
    enterDone(run, result.outcome, run.attention);
    return result;
  };

async function endOrder(run: OrderRun, result?: OrderResult): Promise<void> {
  countEnd(run, result?.outcome ?? (run.failure?.type === ORDER_UNRESOLVED ? 'unresolved' : 'none'));
  const { outcome, compensation } = result ?? {};
  emit(run, 'order.ended', { outcome, failure: run.failure?.type, compensation: compensation?.status });
  if (result) await startLookUpsAfterEnd(run);
}

/**
 * Frame of every order workflow: handlers, then steps, then an end that leaves no caller waiting. A
 * cancellation interrupts no step, because the service has no cancel: steps check
 * `facts.cancelled`.
 */
async function inFrame<Result>(
  run: OrderRun,
  steps: Steps<Result>,
  end: (run: OrderRun, result?: Result) => Promise<void> | void,
): Promise<Result> {
  setHandlers(run);
  CancellationScope.current().cancelRequested.catch(() => {
    run.facts = { ...run.facts, cancelled: true };
    showCancelled(run);
  });
  return CancellationScope.nonCancellable(async () => {
    let result: Result | undefined;
    try {
      setCurrentDetails(currentDetails(run));
      result = await steps(run);
    } catch (error) {
      // Only an order failure ends an order. Any other error is a bug, and keeps the workflow open
      // until it is fixed.
      if (!(error instanceof ApplicationFailure) || !endsOrder(error.type)) throw new Error(`bug: ${String(error)}`);
      run.failure = error;
    }
    await end(run, result);
    // Nobody looked into these callbacks. One that comes later starts the same look-ups.
    const isDue = () => run.callback.isDue && isOrderRun() && run.finalOrder?.status !== 'completed';
    const hand = async () => {
      await handOver(run.outbox);
      if (!isDue()) return;
      run.callback.isDue = false;
      await startLookUps(run);
    };
    await beforeEnd(hand, () => isDue() || !isHandedOver(run.outbox));
    if (result) return result;
    throw run.failure;
  });
}

async function orderOrFailure(run: OrderRun, pick: () => Order | undefined): Promise<Order> {
  await condition(() => pick() !== undefined || run.failure !== undefined);
  const order = pick();
  if (order) return order;
  throw run.failure ?? ApplicationFailure.nonRetryable('the order ended without being created');
}

/** Decodes no argument: one that nobody reads cannot stop the order. The SDK reads by index. */
const UNREAD = { inputTypes: new Proxy<TypeInfo[]>([], { get: () => rawValueTypeInfo }) };

function refuseDecision(reason: string): never {
  throw ApplicationFailure.nonRetryable(reason, 'DecisionRefused');
}

const approvesBreach = ({ attention }: OrderRun, { action }: Decision): boolean =>
  action === 'approve' && attention?.code === 'policy';

/** Returns why a person may not approve the breach of an order that they started or decided on. */
const ownApproval = (run: OrderRun, decision: Decision): string | undefined =>
  approvesBreach(run, decision)
    ? [marksOf(run).metadata?.startedBy, run.input.decidedBy]
        .map((starter) => starterProblem('order', starter, decision.by))
        .find(Boolean)
    : undefined;

function takeDecision(run: OrderRun, decision: Decision): Promise<OrderState> {
  const { signature, ...choice } = decision;
  const { account, strictest, input } = run;
  const ofBatch = approvesBreach(run, decision) && { batchId: input.batchId };
  return takeSigned({
    input: { account, update: 'decide', choice, signature, ...required(strictest.onlyByCommand), ...ofBatch },
    refusal: () => refusal(run, decision),
    refuse: refuseDecision,
    take: (keyId) => {
      run.parked.decision = { ...choice, ...(keyId && { keyId }) };
      return orderState(run);
    },
  });
}

/** Holds whether `begin` came with the start of this run or later, which the run cannot know. */
const OWN_INPUT = 'The order of this id has its own input and may be paid. Read its state before any other start';

const refuseBegin: Refuse = (field, reason) => {
  throw invalidInput([{ field, reason }], OWN_INPUT);
};

/** Sets the update and query that compare a start with this run's input, also after its end. */
function setBegin(run: OrderRun): void {
  const differing = (type: OrderType, given: RunInput): string[] => {
    const asked = withoutNulls(given);
    if (!isOrderType(type)) refuseBegin('order_type', `must be one of ${ORDER_TYPES.join(', ')}`);
    checkOrderShape(refuseBegin, asked);
    return startDifferences(type, asked, { workflowType: workflowTypeOf(run.type), input: run.input });
  };
  setHandler(defineUpdate<OrderState, [OrderType, RunInput]>(BEGIN_UPDATE), () => orderState(run), {
    description: 'Sent with the start, with the order type and its input. Refuses another input, by its fields.',
    validator: (type, asked) => {
      const fields = differing(type, asked);
      if (fields.length === 0) return;
      const message = `order "${orderIdOf(run)}" has different ${fields.join(', ')}. ${OWN_INPUT}`;
      throw ApplicationFailure.nonRetryable(message, 'OrderConflict', fields);
    },
  });
  setHandler(defineQuery<string[], [OrderType, RunInput]>(BEGIN_UPDATE), differing, {
    description: 'Fields in which an input differs from that of this order, also after its end.',
  });
}

/** Sets all handlers before the first await, so that no message is missed. */
function setHandlers(run: OrderRun): void {
  setHandler(
    // The argument is a claim of whoever knows the URL, so it is not decoded.
    defineSignal(ORDER_CALLBACK_SIGNAL, { typeInfo: UNREAD }),
    () => {
      run.callback = { isDue: true, firstAtMs: run.callback.firstAtMs ?? Date.now() };
    },
    { description: 'Something may have changed: look the order up now. The argument is ignored.' },
  );
  // Only the query shows these, because histories keep the answers of updates.
  const shown = (): OrderState => ({ ...orderState(run), ...knownOf(run) });
  setHandler(defineQuery<OrderState>(ORDER_STATE_QUERY), shown, {
    description: 'Phase, revision, status, order, attention with the actions that may be decided, last look-up.',
  });
  setHandler(defineUpdate<Order>(CREATED_UPDATE), () => orderOrFailure(run, () => run.order), {
    description: 'Waits until the order exists at the service and returns it (deposit address or URL included).',
  });
  setHandler(defineUpdate<Order>(FINAL_UPDATE), () => orderOrFailure(run, () => run.finalOrder), {
    description: 'Waits for the first final status and returns the order, before compensation.',
  });
  setHandler(
    defineUpdate<OrderState, [Decision]>(DECIDE_UPDATE),
    (decision) => takeDecision(run, withoutNulls(decision)),
    {
      description: 'Decides a parked order. Each of the decisions in orderState is an argument to send.',
      // Synchronous: an async validator would never refuse.
      validator: (sent) => {
        const decision = withoutNulls(sent);
        const reason = refusal(run, decision) ?? otherRun(DECIDE_UPDATE, decision) ?? ownApproval(run, decision);
        if (reason) refuseDecision(reason);
      },
    },
  );
}
