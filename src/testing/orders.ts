import { ApplicationFailure } from '@temporalio/common';
import type { Standing } from '../client/standing.js';
import { decidedBy, refusedText } from '../contract/attention.js';
import { describeFieldErrors, type FieldError, ORDER_UNRESOLVED, statusText } from '../contract/failures.js';
import { maskWords } from '../contract/masking.js';
import { CREATED_UPDATE, DECIDE_UPDATE, FINAL_UPDATE, followUpOrderId } from '../contract/names.js';
import {
  type CompensationResult,
  differenceOf,
  type OrderResult,
  type Remainder,
  type RunInput,
} from '../contract/order/input-and-result.js';
import type { Attention, Decision, OrderState, TakenDecision } from '../contract/order/messages.js';
import { factsOf, type OrderType, orderTypeOf } from '../contract/order/types.js';
import type { FinalStatus, Order } from '../contract/service-objects.js';
import { OTHER_RUN } from '../contract/signature.js';
import { maskWallets } from '../contract/wallets.js';
import { withoutNulls } from '../contract/without-nulls.js';
import { actionsOf, chooseOffer, type Offer, offerByPolicy } from '../workflows/compensation/offers.js';
import { adoption } from '../workflows/create/adoption.js';
import { openFacts, type Seen } from '../workflows/create/facts.js';
import { recordOf, refusal } from '../workflows/order/decision.js';
import { marksOf } from '../workflows/order/payment.js';
import type { ParkQuestion } from '../workflows/order/show.js';
import { beforeSend, lateness, notSent, type Terms } from './before-send.js';
import { isDoubt, type TestEnding } from './endings.js';
import { notInDouble } from './lacks.js';
import {
  attributesOf,
  conflictOver,
  markedOf,
  NOT_PARKED,
  queriedState,
  questionOf,
  seenAs,
  stateOf,
  type TestOrder,
  type TestQuestion,
  timeNow,
} from './order.js';
import { accountOf, type Run, standingOf } from './run.js';
import { createdOrder, finalOrder, leftOf } from './service-order.js';
import { TestTemporal } from './temporal.js';

type Question = Omit<Attention, 'since'>;

/** Order workflows in memory. They decide by the product's own rules. */
export abstract class TestOrders extends TestTemporal {
  readonly #orders = new Map<Run, TestOrder>();

  protected abstract endingOf(workflowId: string): TestEnding;
  protected abstract terms(): Terms;

  /** Returns the newest order of an account at the service with this id. */
  find(account: string, id: { order_id?: unknown; order_uuid?: unknown }): Order | undefined {
    const all = [...this.#orders.values()].filter(({ run }) => accountOf(run) === account);
    const orders = all.flatMap(({ order, shown }) => order ?? shown ?? []);
    return orders.findLast((one) => one.user_order_id === id.order_id || one.order_uuid === id.order_uuid);
  }

  /** Returns how an order stands, with the service's order. */
  protected standing(run: Run): { standing: Standing; shown: TestOrder | undefined } {
    const shown = this.#orders.get(run);
    return { shown, standing: standingOf(run, shown) };
  }

  /** Lets an open order end, or wait. */
  protected endNow(workflowId: string, ending: TestEnding): void {
    for (const order of this.#orders.values()) {
      const { run } = order;
      if (run.workflowId === workflowId && run.served && !run.closed) this.#settle(order, ending);
    }
  }

  override clear(): void {
    super.clear();
    this.#orders.clear();
  }

  protected override begin(run: Run): void {
    const type = orderTypeOf(run.type) as OrderType;
    const input = run.input as RunInput;
    const order: TestOrder = {
      ...{ run, type, input, revision: 1, phase: 'creating' },
      waitingFor: 'a worker that takes the create',
      facts: openFacts(input.resend, factsOf(type).movesMoneyAtOnce),
      ...{ parked: NOT_PARKED, decisions: [], adopted: false, lookedAt: null, listed: 'open', next: () => {} },
    };
    this.#orders.set(run, order);
    if (run.cancelled) this.cancel(run);
  }

  /** Does what a worker does before it sends, and then what the test says. */
  protected override proceed(run: Run): void {
    const order = this.#orders.get(run);
    if (!order) return;
    const { type, input } = order;
    const ending = this.endingOf(run.workflowId);
    const found = this.find(accountOf(run), input.order);
    const isOurs = found && seenAs(order, found).kind === 'ours';
    if (isOurs) Object.assign(order, { created: found, adopted: true });
    const isKnown = [...this.#orders.keys()].some((one) => one !== run && one.workflowId === run.workflowId);
    const before = found ? !isOurs && conflictOver(found) : beforeSend(type, input, this.terms(), isKnown);
    this.#settle(order, before || ending);
  }

  protected override state(run: Run): OrderState {
    return queriedState(this.#of(run), accountOf(run));
  }

  protected override update(run: Run, name: string, argument: unknown): unknown {
    const order = this.#of(run);
    if (name === DECIDE_UPDATE) return this.#decide(order, argument as Decision);
    if (name !== CREATED_UPDATE && name !== FINAL_UPDATE) throw notInDouble(`the update ${name}`);
    const found = name === CREATED_UPDATE ? order.created : order.finalOrder;
    if (!found && order.failure) throw order.failure;
    return found;
  }

  protected override cancel(run: Run): void {
    const order = this.#of(run);
    const { attention } = order;
    order.facts = { ...order.facts, cancelled: true };
    if (!order.created && !isDoubt(attention?.code)) {
      this.#fail(order, 'OrderCancelled', `order ${order.input.order.order_id} was cancelled before anything was sent`);
    } else if (attention) {
      order.revision += 1;
      order.attention = { ...attention, reason: `${attention.reason}; it was cancelled` };
    }
  }

  readonly #of = (run: Run): TestOrder => this.#orders.get(run) as TestOrder;

  #settle(order: TestOrder, ending: TestEnding): void {
    const { type, input } = order;
    Object.assign(order, { attention: undefined, parked: NOT_PARKED });
    if (ending !== 'open' && 'failure' in ending) {
      const { failure, fields = [], reason } = ending;
      const words = fields.length > 0 ? describeFieldErrors(fields) : 'the test says so';
      this.#fail(order, failure, reason ?? `${words}. Nothing was sent`, fields);
    } else if (ending !== 'open' && 'parked' in ending) {
      this.#ask(order, ending);
    } else {
      order.created ??= createdOrder(type, input.order, this.terms().rates);
      order.order = order.created;
      this.#enter(order, 'following', 'the final status, by callback or by polling');
      if (ending === 'open') return;
      const { outcome, remainder, order: fields } = ending;
      const final = { ...finalOrder(order.created, outcome, remainder), ...fields };
      Object.assign(order, { order: final, finalOrder: final, lookedAt: timeNow() });
      this.#compensate(order, final, remainder);
    }
  }

  /** Asks a person about an order that was not created. */
  #ask(order: TestOrder, ending: TestQuestion): void {
    const { parked: code, next = { outcome: 'completed' } } = ending;
    if (isDoubt(code)) {
      this.#enter(order, 'uncertain', 'checking whether the order exists');
      order.lookedAt = timeNow();
    }
    const question = questionOf(order, ending, this.terms().rates);
    this.#park(order, question.asked, (decision) => {
      const late = lateness(order.input);
      if (decision.action === 'adopt') this.#adopt(order, { ...ending, next }, question, decision);
      else if (late) this.#settle(order, isDoubt(code) ? ending : notSent(order.input, late));
      else this.#settle(order, next);
    });
  }

  #adopt(
    order: TestOrder,
    ending: TestQuestion & { next: TestEnding },
    { asked, conflict }: ReturnType<typeof questionOf>,
    decision: TakenDecision,
  ): void {
    const found = this.find(accountOf(order.run), { order_uuid: decision.order_uuid });
    const seen: Seen = found ? seenAs(order, found) : { kind: 'absent', said: statusText(400) };
    const chosen = { ...decision, by: maskWords(decision.by) };
    const result = adoption({ request: order.input.order }, conflict, asked, seen, chosen);
    if ('code' in result) this.#park(order, result, order.next);
    else if (result.kind === 'adopted') {
      Object.assign(order, { created: result.ours.order, adopted: true });
      this.#settle(order, ending.next);
    } else this.#settle(order, { ...ending, parked: 'conflict', ...(found && { order: found }) });
  }

  /** Does what the product's table of remainders says. */
  #compensate(order: TestOrder, final: Order, remainder?: Remainder[]): void {
    const { input, type } = order;
    this.#enter(order, final.status === 'completed' ? 'following' : 'compensating', 'the balance changes of the order');
    const { about, row, offers } = leftOf({ type, request: input.order, order: final }, input, remainder);
    const policy = input.compensation ?? row.byDefault;
    const end = (status: 'none' | 'done', more: Partial<CompensationResult>, left = about) =>
      this.#complete(order, final, { ...left, compensation: { policy, status, ...more } });
    const followUp = ({ move: { kind: taken } }: Offer) => {
      const kept = about.remainder?.filter(({ kind }) => kind !== taken) ?? [];
      const done = { order_id: followUpOrderId(input.order.order_id, 1), outcome: 'completed' } as const;
      end('done', done, kept.length > 0 ? { remainder: kept } : {});
    };
    const byPolicy = offerByPolicy(offers, row, policy);
    if (row.attention) {
      this.#enter(order, order.phase, order.waitingFor, { code: 'undocumented-end', reason: row.name, allowed: [] });
    }
    if (row.nothingLeft || policy === 'report' || (policy === 'revert' && row.revert === 'report')) {
      end('none', final.status === 'completed' ? {} : { reason: row.name });
    } else if (byPolicy) {
      followUp(byPolicy);
    } else {
      const asked: ParkQuestion = { code: 'remainder', reason: row.name, allowed: actionsOf(offers), offers };
      this.#park(order, asked, (decision) => {
        this.#enter(order, 'compensating', 'what was decided');
        const { action, by, reason } = decision;
        const offer = chooseOffer(offers, decision);
        if (action === 'accept') end('none', { reason: `accepted by ${maskWords(by)}: ${maskWords(reason)}` });
        else if (typeof offer === 'object') followUp(offer);
      });
    }
  }

  #decide(order: TestOrder, sent: Decision): OrderState {
    const given = withoutNulls(sent);
    const isOther = given?.runId !== undefined && given.runId !== order.run.runId;
    const refused = refusal(order, given) ?? (isOther ? OTHER_RUN : undefined);
    if (refused) throw ApplicationFailure.nonRetryable(refused, 'DecisionRefused');
    const { signature: _, ...decision } = given;
    const { parked, attention, input } = order;
    parked.decision = decision;
    const answer = stateOf(order);
    order.decisions.push(recordOf(parked.offers, decision));
    Object.assign(order, { attention: undefined, parked: NOT_PARKED });
    const { order_id: id } = input.order;
    const by = decidedBy({ ...decision, at: timeNow() });
    if (decision.action === 'refuse') {
      this.#fail(order, 'OrderCancelled', refusedText(id, by, attention?.reason ?? ''));
    } else if (decision.action === 'close-absent') {
      this.#fail(order, 'OrderAbsent', `Order "${id}" was closed by ${by}: the service shows no such order`);
    } else order.next(decision);
    return answer;
  }

  #park(order: TestOrder, asked: ParkQuestion, next: TestOrder['next']): void {
    const { code, reason, allowed, offers = [], candidates = [], toApprove } = asked;
    Object.assign(order, { parked: { offers, candidates }, next });
    this.#enter(order, 'parked', 'a decision', { code, reason, allowed, ...toApprove });
  }

  #complete(order: TestOrder, final: Order, about: Partial<OrderResult>): void {
    const { adopted, decisions } = order;
    const difference = differenceOf(final);
    const outcome = final.status as FinalStatus;
    const done = { ...(difference && { difference }), ...(decisions.length > 0 && { decisions }) };
    this.#enter(order, 'done', 'nothing', undefined, outcome);
    order.result = { outcome, order: final, adopted, ...marksOf(markedOf(order)), ...about, ...done };
    this.end(order.run, { result: order.result });
  }

  #fail(order: TestOrder, type: string, reason: string, fields: FieldError[] = []): void {
    const details = fields.length > 0 ? [fields] : [];
    order.failure = ApplicationFailure.create({ type, message: maskWallets(reason), nonRetryable: true, details });
    order.attention = undefined;
    this.#enter(order, 'done', 'nothing', undefined, type === ORDER_UNRESOLVED ? 'unresolved' : 'none');
    this.end(order.run, { failure: order.failure });
  }

  /** Changes the phase or asks a question. Lists show it where a workflow would show it. */
  #enter(order: TestOrder, phase: OrderState['phase'], waitingFor: string, question?: Question, status?: string): void {
    if (question || order.phase !== phase) order.revision += 1;
    Object.assign(order, { phase, waitingFor }, question && { attention: { ...question, since: timeNow() } });
    const { run, attention } = order;
    const shown = status ?? (phase === 'parked' || phase === 'uncertain' ? phase : 'open');
    const listed = `${shown} ${attention?.code ?? ''}`.trim();
    if (order.listed === listed) return;
    order.listed = listed;
    this.show(run, attributesOf(order, shown));
  }
}
