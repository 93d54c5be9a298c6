import { condition } from '@temporalio/workflow';
import { ADOPTABLE_DIFFERENCES } from '../../contract/differences/echo.js';
import { maskWallet } from '../../contract/masking.js';
import { AMOUNT_FORMAT, decimal, MAX_AMOUNT_LENGTH, toAmount } from '../../contract/money.js';
import { ORDER_UUID_FORMAT } from '../../contract/names.js';
import type {
  ApprovedAmount,
  DecideAction,
  Decision,
  DecisionRecord,
  TakenDecision,
} from '../../contract/order/messages.js';
import type { CardPart, TargetField } from '../../contract/order/request.js';
import { FOLLOW_UP_TYPES } from '../../contract/order/types.js';
import { isPlaceholder } from '../../contract/placeholders.js';
import { signatureProblem } from '../../contract/signature.js';
import { MAX_CARDS, MULTIPLE_CARDS } from '../../contract/wallets.js';
import type { OrderAttention } from '../../contract/words.js';
import { chooseOffer, type Offer, totalOf } from '../compensation/offers.js';
import type { Candidate } from '../create/seen.js';
import { isDeeperThan } from '../identity.js';
import { decisionsOf } from './choices.js';
import { raiseAttention } from './show.js';
import type { OrderRun } from './state.js';

const isText = (value: unknown, maxLength: number): value is string =>
  typeof value === 'string' && value.trim() !== '' && value.length <= maxLength;

const isOwnText = (value: unknown): value is string => isText(value, 500) && !isPlaceholder(value);

/** Fields of one kind of action only. */
const ADOPT_FIELDS = ['order_uuid', 'differences'] as const;
const WAY_FIELDS = ['kind', 'as', 'revertTo', 'wallet_details'] as const;
const APPROVE_FIELDS = ['amount', 'currency'] as const;
const ACTION_FIELDS = [...ADOPT_FIELDS, ...WAY_FIELDS, ...APPROVE_FIELDS];
const FIELDS = ['action', 'by', 'reason', 'revision', 'runId', ...ACTION_FIELDS, 'signature'];

/** A signature check gets the whole decision, and too large an input would end the workflow. */
const isTooLarge = (decision: object): boolean =>
  isDeeperThan(10, decision) || JSON.stringify(decision).length > 50_000;

/** Returns why a decision is refused now, for the person who sent it. */
export function refusal(run: OrderRun, decision: unknown): string | undefined {
  if (typeof decision !== 'object' || decision === null) return 'decide needs {action, by, reason, revision}';
  if (isTooLarge(decision)) return 'decide: takes less than 50000 characters, at most 10 levels deep';
  const { action, by, reason, revision, signature } = decision as Partial<Decision>;
  const unknown = unknownKeys(decision, FIELDS);
  if (unknown.length > 0) return `unknown: ${unknown.join(', ')}`;
  if (run.parked.decision) return 'another decision was taken a moment ago; look again';
  const allowed = new Set(decisionsOf(run).map((choice) => choice.decision.action));
  const allowedNow = allowed.size > 0 ? `allowed now: ${[...allowed].join(', ')}` : 'nothing can be decided now';
  if (!action || !allowed.has(action)) return `action ${String(action)} is not allowed; ${allowedNow}`;
  if (!isOwnText(by)) return 'by: who decides? (1 to 500 characters, a name of your own)';
  if (!isOwnText(reason)) return 'reason: why? (1 to 500 characters, in words of your own)';
  if (revision !== run.revision) {
    return `revision ${String(revision)} is stale: the order is at revision ${run.revision}; look again (orderState), then decide`;
  }
  return signatureProblem(signature) ?? fieldsProblem(run, decision as Partial<Decision>);
}

/** Returns what is wrong with the fields of one action. */
function fieldsProblem(run: OrderRun, decision: Partial<Decision>): string | undefined {
  const { action, order_uuid: orderUuid, kind, as } = decision;
  const moves = action === 'finish' || action === 'revert';
  const others = [
    ...(action === 'adopt' ? [] : ADOPT_FIELDS),
    ...(moves ? [] : WAY_FIELDS),
    ...(action === 'approve' ? [] : APPROVE_FIELDS),
  ];
  const misplaced = others.filter((field) => decision[field] !== undefined);
  if (misplaced.length > 0) return `${action} does not take ${misplaced.join(', ')}`;
  if (action === 'approve') return approvalProblem(run, decision);
  if (action === 'adopt' && !ORDER_UUID_FORMAT.test(orderUuid ?? '')) return 'adopt needs the order_uuid to follow';
  const unnamed = differencesProblem(run, decision);
  if (unnamed) return unnamed;
  if (kind !== undefined && kind !== 'unexchanged' && kind !== 'unpaid')
    return "kind must be 'unexchanged' or 'unpaid'";
  if (as !== undefined && !FOLLOW_UP_TYPES.includes(as)) return `as must be one of ${FOLLOW_UP_TYPES.join(', ')}`;
  return moves ? wayProblem(run.parked.offers, decision) : undefined;
}

/** An approval must name exactly the amount that is shown. */
function approvalProblem({ attention }: OrderRun, { amount, currency }: Partial<Decision>): string | undefined {
  if (amount === attention?.amount && currency === attention?.currency) return undefined;
  const shown = APPROVE_FIELDS.flatMap((field) => (attention?.[field] ? [`${field} ${attention[field]}`] : []));
  return `approve needs exactly what is shown: ${shown.join(' and ') || 'neither amount nor currency'}`;
}

/** Checks only that fields are named. A look-up compares them later. */
function differencesProblem(
  { parked }: OrderRun,
  { differences, order_uuid: uuid }: Partial<Decision>,
): string | undefined {
  if (differences === undefined) return undefined;
  const named =
    Array.isArray(differences) && differences.length > 0 && new Set(differences).size === differences.length;
  const { differences: shown = [] } = parked.candidates.find(({ order_uuid }) => order_uuid === uuid) ?? {};
  const adoptable = [...ADOPTABLE_DIFFERENCES, ...shown.filter((field) => field === 'order_id')];
  if (named && differences.every((field) => adoptable.includes(field))) return undefined;
  return `differences: the fields in which the order differs, each once, of ${ADOPTABLE_DIFFERENCES.join(', ')}`;
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const unknownKeys = (value: object, known: readonly string[]): string[] =>
  Object.keys(value).filter((key) => !known.includes(key));

/** Returns what is wrong with the named move. Checks shapes only, and shows no value. */
function wayProblem(offers: readonly Offer[], decision: Partial<Decision>): string | undefined {
  const offer = chooseOffer(offers, decision);
  if (typeof offer === 'string') return offer;
  const { revertTo, wallet_details: cards } = decision;
  const { field, required } = offer.names ?? {};
  if (revertTo !== undefined && field !== 'revertTo') return 'revertTo: this way refunds nothing';
  if (cards !== undefined && field !== 'wallet_details') return 'wallet_details: this way pays to no several cards';
  if (revertTo === undefined && cards === undefined) return required ? missing(offer) : undefined;
  return field === 'revertTo' ? targetProblem(revertTo) : cardsProblem(cards, offer);
}

function missing({ names, amount, currency }: Offer): string {
  if (names?.field === 'revertTo') return 'revertTo: where does the refund go? {network, wallet, …}';
  return `wallet_details: which cards are to be paid? [{amount, wallet}, …], at most ${toAmount(amount)} ${currency}`;
}

const lengthProblem = (value: unknown) => (isText(value, 255) ? undefined : ': a text of 1 to 255 characters');

/** Checks of the fields of `revertTo`. */
const TARGET_PROBLEMS: Record<'network' | TargetField, (value: unknown) => string | undefined> = {
  network: (value) => (value === MULTIPLE_CARDS ? ': a refund goes to one wallet' : lengthProblem(value)),
  wallet: lengthProblem,
  wallet_memo: (value) => (value == null || typeof value === 'string' ? undefined : ' must be a text'),
  wallet_details: (value) => (value == null || isObject(value) ? undefined : ' must be an object'),
};

/** Fields of `revertTo`, in words. */
export const REVERT_TARGET = `{${Object.entries(TARGET_PROBLEMS)
  .map(([field, problemOf]) => (problemOf(undefined) ? field : `${field}?`))
  .join(', ')}}`;

function targetProblem(revertTo: unknown): string | undefined {
  if (!isObject(revertTo)) return `revertTo must be ${REVERT_TARGET}`;
  const unknown = unknownKeys(revertTo, Object.keys(TARGET_PROBLEMS));
  // Unknown keys may hold secrets, so only their number is shown.
  if (unknown.length > 0) return `revertTo: ${unknown.length} unknown fields`;
  const problems = Object.entries(TARGET_PROBLEMS).flatMap(([field, problemOf]) => {
    const problem = problemOf(revertTo[field]);
    return problem ? [`revertTo.${field}${problem}`] : [];
  });
  return problems[0];
}

const isAmount = (value: unknown): value is string =>
  typeof value === 'string' && value.length <= MAX_AMOUNT_LENGTH && AMOUNT_FORMAT.test(value) && decimal(value).gt(0);

const isCard = (part: unknown): part is CardPart =>
  isObject(part) &&
  unknownKeys(part, ['amount', 'wallet']).length === 0 &&
  isAmount(part.amount) &&
  isText(part.wallet, 255);

function cardsProblem(cards: unknown, { amount, currency }: Offer): string | undefined {
  if (!Array.isArray(cards) || cards.length === 0 || cards.length > MAX_CARDS) {
    return `wallet_details must be a list of 1 to ${MAX_CARDS} cards`;
  }
  const bad = cards.findIndex((part) => !isCard(part));
  if (bad >= 0) return `wallet_details[${bad}] must be {amount, wallet}, the amount a decimal string above 0`;
  const total = totalOf(cards);
  if (total.lte(amount)) return undefined;
  return `wallet_details: the amounts add up to ${toAmount(total)}, at most ${toAmount(amount)} ${currency} may be paid`;
}

/** Returns a decision as results keep it, with masked wallets. */
export function recordOf(offers: readonly Offer[], decision: TakenDecision): DecisionRecord {
  const { runId: _, kind: __, as: ___, revertTo, wallet_details: cards, ...rest } = decision;
  const chosen = rest.action === 'finish' || rest.action === 'revert' ? chooseOffer(offers, decision) : undefined;
  return {
    ...rest,
    at: new Date().toISOString(),
    ...(typeof chosen === 'object' && { kind: chosen.move.kind, as: chosen.move.as }),
    ...(revertTo && { revertTo: { network: revertTo.network, wallet: maskWallet(revertTo.wallet) } }),
    ...(Array.isArray(cards) && {
      wallet_details: cards.map(({ amount, wallet }) => ({ amount, wallet: maskWallet(wallet) })),
    }),
  };
}

/** Question of a parked order, with what `finish`, `revert`, `adopt` and `approve` may mean. */
export interface ParkQuestion {
  code: OrderAttention;
  reason: string;
  allowed: DecideAction[];
  offers?: readonly Offer[];
  candidates?: readonly Candidate[];
  toApprove?: ApprovedAmount;
}

/** Keeps the workflow open until an operator decides, without a time-out. Records the decision. */
export async function park(run: OrderRun, asked: ParkQuestion): Promise<TakenDecision> {
  return (await parkUnless(run, asked, () => false)) as TakenDecision;
}

/** Like `park`, but also ends once `resolved` returns true. */
export async function parkUnless(
  run: OrderRun,
  { code, reason, allowed, offers = [], candidates = [], toApprove }: ParkQuestion,
  resolved: () => boolean,
): Promise<TakenDecision | undefined> {
  run.phase = 'parked';
  run.waitingFor = 'a decision';
  run.parked = { offers, candidates };
  run.attention = undefined;
  raiseAttention(run, code, reason, allowed, toApprove);
  await condition(() => run.parked.decision !== undefined || resolved());
  const { decision } = run.parked;
  run.parked = { offers: [], candidates: [] };
  run.attention = undefined;
  if (!decision) return undefined;
  run.decisions.push(recordOf(offers, decision));
  return decision;
}
