import { condition } from '@temporalio/workflow';
import type { OrderAttention } from '../../contract/attention.js';
import { isPlaceholder } from '../../contract/attention.js';
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
import type { CardPart } from '../../contract/order/request.js';
import { signatureProblem } from '../../contract/signature.js';
import { MAX_CARDS, MULTIPLE_CARDS } from '../../contract/wallets.js';
import { chooseOffer, type Offer, totalOf } from '../compensation/offers.js';
import type { Candidate } from '../create/seen.js';
import { isDeeperThan } from '../identity.js';
import { decisionsOf } from './choices.js';
import { raiseAttention } from './show.js';
import type { OrderRun } from './state.js';

const isText = (value: unknown, maxLength: number): value is string =>
  typeof value === 'string' && value.trim() !== '' && value.length <= maxLength;

const isOwnText = (value: unknown): value is string => isText(value, 500) && !isPlaceholder(value);

const COMMON_FIELDS = ['action', 'by', 'reason', 'revision', 'runId', 'signature'];
const WAY_FIELDS = ['kind', 'as', 'revertTo', 'wallet_details'];
const APPROVE_FIELDS = ['amount', 'currency'] as const;

/** Fields of one kind of action only. */
const OWN_FIELDS: Partial<Record<DecideAction, readonly string[]>> = {
  adopt: ['order_uuid', 'differences'],
  approve: APPROVE_FIELDS,
  finish: WAY_FIELDS,
  revert: WAY_FIELDS,
};

/** A signature check gets the whole decision, and too large an input would end the workflow. */
const isTooLarge = (decision: object): boolean =>
  isDeeperThan(10, decision) || JSON.stringify(decision).length > 50_000;

/** Returns why a decision is refused now, for the person who sent it. */
export function refusal(run: OrderRun, decision: unknown): string | undefined {
  if (typeof decision !== 'object' || decision === null) return 'decide needs {action, by, reason, revision}';
  if (isTooLarge(decision)) return 'decide: takes less than 50000 characters, at most 10 levels deep';
  const { action, by, reason, revision, signature } = decision as Partial<Decision>;
  const allowed = new Set(decisionsOf(run).map((choice) => choice.decision.action));
  const isAllowed = action !== undefined && allowed.has(action);
  const own = isAllowed ? (OWN_FIELDS[action] ?? []) : Object.values(OWN_FIELDS).flat();
  // A field that is given twice shows here as one more field.
  const others = unknownKeys(decision, [...COMMON_FIELDS, ...own]);
  if (others.length > 0) return `${String(action)} does not take ${others.join(', ')}`;
  if (run.parked.decision) return 'another decision was taken a moment ago; look again';
  const allowedNow = allowed.size > 0 ? `allowed now: ${[...allowed].join(', ')}` : 'nothing can be decided now';
  if (!isAllowed) return `action ${String(action)} is not allowed; ${allowedNow}`;
  if (!isOwnText(by)) return 'by: who decides? (1 to 500 characters, a name of your own)';
  if (!isOwnText(reason)) return 'reason: why? (1 to 500 characters, in words of your own)';
  if (revision !== run.revision) {
    return `revision ${String(revision)} is stale: the order is at revision ${run.revision}; look again (orderState), then decide`;
  }
  return signatureProblem(signature) ?? fieldsProblem(run, action, decision as Partial<Decision>);
}

/** Returns what is wrong with the fields of one action. */
function fieldsProblem(run: OrderRun, action: DecideAction, decision: Partial<Decision>): string | undefined {
  switch (action) {
    case 'approve':
      return approvalProblem(run, decision);
    case 'adopt':
      return adoptionProblem(run, decision);
    case 'finish':
    case 'revert':
      return wayProblem(run.parked.offers, decision);
    default:
      return undefined;
  }
}

/** An approval must name exactly the amount that is shown. */
function approvalProblem({ attention }: OrderRun, { amount, currency }: Partial<Decision>): string | undefined {
  if (amount === attention?.amount && currency === attention?.currency) return undefined;
  const shown = APPROVE_FIELDS.flatMap((field) => (attention?.[field] ? [`${field} ${attention[field]}`] : []));
  return `approve needs exactly what is shown: ${shown.join(' and ') || 'neither amount nor currency'}`;
}

/** Checks only that fields are named. A look-up compares them later. */
function adoptionProblem({ parked }: OrderRun, decision: Partial<Decision>): string | undefined {
  const { differences, order_uuid: uuid } = decision;
  if (!ORDER_UUID_FORMAT.test(uuid ?? '')) return 'adopt needs the order_uuid to follow';
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
  if (field === 'revertTo' && (revertTo !== undefined || required)) return targetProblem(revertTo);
  return field === 'wallet_details' && (cards !== undefined || required) ? cardsProblem(cards, offer) : undefined;
}

/** The first activity of the refund checks the values. */
function targetProblem(revertTo: unknown): string | undefined {
  const { network, wallet, wallet_memo: memo, wallet_details: details, ...others } = Object(revertTo);
  const isTarget =
    [network, wallet].every((text) => isText(text, 255)) &&
    network !== MULTIPLE_CARDS &&
    (memo == null || typeof memo === 'string') &&
    (details == null || isObject(details)) &&
    Object.keys(others).length === 0;
  return isTarget ? undefined : 'revertTo must be {network, wallet, wallet_memo?, wallet_details?}, and one wallet';
}

const isAmount = (value: unknown): value is string =>
  typeof value === 'string' && value.length <= MAX_AMOUNT_LENGTH && AMOUNT_FORMAT.test(value) && decimal(value).gt(0);

const isCard = (part: unknown): part is CardPart =>
  isObject(part) &&
  unknownKeys(part, ['amount', 'wallet']).length === 0 &&
  isAmount(part.amount) &&
  isText(part.wallet, 255);

function cardsProblem(cards: unknown, { amount, currency }: Offer): string | undefined {
  const most = `at most ${toAmount(amount)} ${currency} in all`;
  if (!Array.isArray(cards) || cards.length === 0 || cards.length > MAX_CARDS || !cards.every(isCard)) {
    return `wallet_details must be a list of 1 to ${MAX_CARDS} cards {amount, wallet}, each amount above 0, ${most}`;
  }
  const total = totalOf(cards);
  return total.lte(amount) ? undefined : `wallet_details: the amounts add up to ${toAmount(total)}, ${most}`;
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
