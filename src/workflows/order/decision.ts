import {
  ACCEPT_CHANGE,
  APPROVE_BREACH,
  CLOSE_CONFLICT,
  DECISION_WORDS,
  isPlaceholder,
  latestSendText,
  SEND_SHORT,
  WAIT_FOR_FUNDS,
  WHY,
  YOUR_NAME,
} from '../../contract/attention.js';
import { ADOPTABLE_DIFFERENCES } from '../../contract/differences/echo.js';
import { maskWallet } from '../../contract/masking.js';
import { AMOUNT_FORMAT, decimal, MAX_AMOUNT_LENGTH, toAmount } from '../../contract/money.js';
import { ORDER_UUID_FORMAT } from '../../contract/names.js';
import type { RunOptions } from '../../contract/order/input-and-result.js';
import type {
  ApprovedAmount,
  Attention,
  DecideAction,
  Decision,
  DecisionChoice,
  DecisionRecord,
  TakenDecision,
} from '../../contract/order/messages.js';
import type { CardPart } from '../../contract/order/request.js';
import { signatureProblem } from '../../contract/signature.js';
import { MAX_CARDS, MULTIPLE_CARDS } from '../../contract/wallets.js';
import { chooseOffer, type Offer, totalOf } from '../compensation/offers.js';
import type { Candidate } from '../create/facts.js';
import { needsPerson } from '../create/next-action.js';
import type { OrderRun } from './state.js';

/** Part of a run by which decisions are offered and checked. */
type Asking = Pick<OrderRun, 'attention' | 'facts' | 'parked' | 'revision'> & {
  input?: Pick<RunOptions, 'latestSend'>;
};

export const decisionsOf = (run: Asking, runId: string): DecisionChoice[] =>
  allowedNow(run).flatMap((action) => choicesOf(run, runId, action));

const allowedNow = (run: Asking): DecideAction[] => (run.parked.decision ? [] : (attentionNow(run)?.allowed ?? []));

/** Returns the question of a run without what it is too late for. */
export const attentionNow = ({ attention, input }: Pick<Asking, 'attention' | 'input'>): Attention | undefined =>
  attention && {
    ...attention,
    allowed: attention.allowed.filter((action) => action !== 'resend' || !isLate({ input })),
  };

/** Returns the latest time at which an order may be sent, in ms; NaN without one. */
export const sendUntilMs = ({ input }: Pick<Asking, 'input'>): number => Date.parse(Object(input).latestSend);

const isLate = (run: Pick<Asking, 'input'>): boolean => Date.now() > sendUntilMs(run);

type Variant = Omit<DecisionChoice, 'decision'> & {
  decision?: Pick<Decision, 'kind' | 'as' | 'order_uuid' | 'differences' | 'amount' | 'currency'>;
};

function choicesOf(run: Asking, runId: string, action: DecideAction): DecisionChoice[] {
  const { revision } = run;
  const alone = aloneReason(run, action);
  return waysOf(run, action).map(({ decision, ...way }) => ({
    ...way,
    ...(alone && { alone }),
    decision: { action, ...decision, by: YOUR_NAME, reason: WHY, revision, runId },
  }));
}

/** Returns why an operator has to read this order's own reason before money moves. */
function aloneReason({ facts }: Asking, action: DecideAction): string | undefined {
  if (action !== 'resend' && action !== 'finish' && action !== 'revert') return undefined;
  if (facts.cancelled) return 'it was cancelled';
  if (action !== 'resend') return undefined;
  if (facts.doubt) return 'it is not proven absent';
  return needsPerson(facts) ? 'its reason names more than its absence' : undefined;
}

function waysOf(run: Asking, action: DecideAction): Variant[] {
  switch (action) {
    case 'resend':
      return [{ does: run.attention?.code === 'short-of-funds' ? WAIT_FOR_FUNDS : DECISION_WORDS.resend }];
    case 'close-absent':
      return [{ does: run.attention?.code === 'conflict' ? CLOSE_CONFLICT : DECISION_WORDS['close-absent'] }];
    case 'adopt':
      return adoptions(run);
    case 'approve':
      return [approvalOf(run.attention)];
    case 'release':
    case 'refuse':
      return [{ does: DECISION_WORDS[action] }];
    case 'accept':
      return [{ does: run.attention?.code === 'changed-after-end' ? ACCEPT_CHANGE : DECISION_WORDS.accept }];
    case 'finish':
    case 'revert':
      return run.parked.offers.filter(({ move }) => move.action === action).map(wayOf);
  }
}

function approvalOf({ code, amount, currency }: Partial<ApprovedAmount> & { code?: string } = {}): Variant {
  if (code === 'policy') return { does: APPROVE_BREACH };
  if (!currency) return { does: 'confirms that this is the right account; the order continues there' };
  const asked = amount
    ? `sends it for up to ${amount} ${currency}; if the amount is higher by then, asks again`
    : `sends it, whatever the amount in ${currency} is`;
  return {
    does: code === 'short-of-funds' ? SEND_SHORT : asked,
    ...(amount && { amount }),
    currency,
    decision: { ...(amount && { amount }), currency },
  };
}

function adoptions({ parked: { candidates } }: Asking): Variant[] {
  if (candidates.length === 0) return [{ does: 'follows the order that you name', needs: 'order_uuid' }];
  return candidates.map((candidate) => ({ does: adoptionOf(candidate), decision: candidate }));
}

const adoptionOf = ({ order_uuid: orderUuid, differences }: Candidate): string =>
  `follows order ${orderUuid}${differences ? ` as ours although it differs in ${differences.join(', ')}: what it pays counts as this payment. No rest is paid, and nothing is taken back: ask the payee for what was paid too much` : ''}`;

function wayOf({ move, amount, currency, names }: Offer): Variant {
  const { kind, as } = move;
  return {
    does: doesOf(move, `${toAmount(amount)} ${currency}`),
    amount: toAmount(amount),
    currency,
    ...(names?.required && { needs: names.field }),
    decision: { ...(kind && { kind }), as },
  };
}

function doesOf({ action, as }: Offer['move'], amount: string): string {
  if (action === 'revert') return as === 'exchange' ? `exchanges ${amount} back` : `pays ${amount} back`;
  if (as === 'exchange') return `exchanges ${amount}`;
  return as === 'withdraw' ? `pays ${amount}` : `exchanges ${amount} and pays what comes of it`;
}

const isText = (value: unknown, maxLength: number): value is string =>
  typeof value === 'string' && value.trim() !== '' && value.length <= maxLength;

const isOwnText = (value: unknown): value is string => isText(value, 500) && !isPlaceholder(value);

const COMMON_FIELDS = ['action', 'by', 'reason', 'revision', 'runId', 'signature'];
const WAY_FIELDS = ['kind', 'as', 'revertTo', 'wallet_details'];
const APPROVE_FIELDS = ['amount', 'currency'] as const;

type Problem = (run: Asking, decision: Partial<Decision>) => string | undefined;

/** Fields of one kind of action only, and what may be wrong with them. */
const OWN: Partial<Record<DecideAction, { fields: readonly string[]; problem: Problem }>> = {
  adopt: { fields: ['order_uuid', 'differences'], problem: adoptionProblem },
  approve: { fields: APPROVE_FIELDS, problem: approvalProblem },
  finish: { fields: WAY_FIELDS, problem: wayProblem },
  revert: { fields: WAY_FIELDS, problem: wayProblem },
};

export const isDeeperThan = (levels: number, value: unknown): boolean =>
  typeof value === 'object' &&
  value !== null &&
  (levels === 0 || Object.values(value).some((item) => isDeeperThan(levels - 1, item)));

/** A signature check gets the whole decision, and too large an input would end the workflow. */
const isTooLarge = (decision: object): boolean =>
  isDeeperThan(10, decision) || JSON.stringify(decision).length > 50_000;

/** Returns why a decision is refused now, for the person who sent it. */
export function refusal(run: Asking, decision: unknown): string | undefined {
  if (typeof decision !== 'object' || decision === null) return 'decide needs {action, by, reason, revision}';
  if (isTooLarge(decision)) return 'decide: takes less than 50000 characters, at most 10 levels deep';
  const { action, by, reason, revision, signature } = decision as Partial<Decision>;
  const allowed = new Set(allowedNow(run).filter((one) => waysOf(run, one).length > 0));
  const isAllowed = action !== undefined && allowed.has(action);
  const own = isAllowed ? (OWN[action]?.fields ?? []) : Object.values(OWN).flatMap(({ fields }) => fields);
  // A field that is given twice shows here as one more field.
  const others = unknownKeys(decision, [...COMMON_FIELDS, ...own]);
  if (others.length > 0) return `${String(action)} does not take ${others.join(', ')}`;
  if (run.parked.decision) return 'another decision was taken a moment ago; look again';
  const shown = allowed.size > 0 ? `allowed now: ${[...allowed].join(', ')}` : 'nothing can be decided now';
  const late = action === 'resend' && isLate(run) ? `. Latest send: ${latestSendText(sendUntilMs(run))}` : '';
  if (!isAllowed) return `action ${String(action)} is not allowed; ${shown}${late}`;
  if (!isOwnText(by)) return 'by: who decides? (1 to 500 characters, a name of your own)';
  if (!isOwnText(reason)) return 'reason: why? (1 to 500 characters, in words of your own)';
  if (revision !== run.revision) {
    return `revision ${String(revision)} is stale: the order is at revision ${run.revision}; look again (orderState), then decide`;
  }
  return signatureProblem(signature) ?? OWN[action]?.problem(run, decision as Partial<Decision>);
}

/** An approval must name exactly the amount that is shown. */
function approvalProblem({ attention }: Asking, { amount, currency }: Partial<Decision>): string | undefined {
  if (amount === attention?.amount && currency === attention?.currency) return undefined;
  const shown = APPROVE_FIELDS.flatMap((field) => (attention?.[field] ? [`${field} ${attention[field]}`] : []));
  return `approve needs exactly what is shown: ${shown.join(' and ') || 'neither amount nor currency'}`;
}

/** Checks only that fields are named. A look-up compares them later. */
function adoptionProblem({ parked }: Asking, decision: Partial<Decision>): string | undefined {
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
function wayProblem({ parked }: Asking, decision: Partial<Decision>): string | undefined {
  const offer = chooseOffer(parked.offers, decision);
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
