import { shownDifferences } from '../../contract/differences/echo.js';
import type { BreachedRule, Control, DuplicateOrders, LookUpReading } from '../../contract/order/activities.js';
import type { ApprovedAmount } from '../../contract/order/messages.js';
import type { RequestFields } from '../../contract/order/request.js';
import { factsOf } from '../../contract/order/types.js';
import type { Order } from '../../contract/service-objects.js';
import type { OrderRun } from '../order/state.js';
import type { Proof } from './absence-proof.js';

/** Why our order may exist although the service shows none. */
export type Cause = 'uncertainCreate' | 'reset' | 'earlierRun' | 'restored' | 'recovered';

/** A create under this order id may have been executed. */
export interface Doubt {
  cause: Cause;
  /** Latest time at which it may have been sent, in ms by the Temporal server's clock. */
  untilMs: number;
  /** When the window of its proof began; without it, the first reading begins the window. */
  sinceMs?: number;
  /** Account of the create: the one that is asked, one that an operator confirmed, or unknown. */
  place: 'asked' | 'confirmed' | 'unknown';
  /** Description for operators. */
  said: string;
}

/** Proof, after the last doubt, that our order does not exist. */
export interface Absence {
  doubt: Doubt;
  /** Run that read it. After a reset, the new run has to read absence itself. */
  readIn: string;
  control: Control;
  /** State when rules or a person permitted a re-send. Later news need another decision. */
  permitted?: { late: boolean; cancelled: boolean };
}

/** Counts the attempts, and limits the re-sends without an operator. */
export interface Budget {
  /** Maximum automatic re-sends. */
  resends: number;
  /** Uncertain creates, the first one included: `spent <= resends` permits a re-send. */
  spent: number;
  /**
   * Probes and creates whose failure says nothing about this order: the service answered "too many
   * requests", or creates of other orders failed, too.
   */
  excused: number;
  /** Set if the last create was one of them. It costs no re-send. */
  lastIsExcused: boolean;
  /** Attempts that sent nothing. */
  notSent: number;
}

/**
 * Everything that a run knows about its create; `nextAction` decides by nothing else. Only
 * `applyOutcome` changes it, except `cancelled` and `late`, which come from outside.
 */
export interface Facts {
  /** While it is set, something may have been sent and absence has to be proven. */
  doubt?: Doubt;
  /** All doubts so far. */
  everDoubted: readonly Doubt[];
  proof?: Proof;
  absence?: Absence;
  found?: Ours | Conflict;
  /** Callback with this order's own token: 'fresh', 'seen' after a look-up, later 'fresh again'. */
  callback: 'none' | 'fresh' | 'seen' | 'fresh again';
  /**
   * The service refused the create with 400, and no person permitted a send since. `needsLater`:
   * only a later order that is shown confirms it, because more was sent or a parent pays again.
   */
  refused?: { answer: string; needsLater: boolean };
  /**
   * Why nothing was sent. `waitMs`: wait before the next look-up. `asks`: an operator decides.
   * `isStopped`: nothing is sent until the account is resumed. `isTakenBack`: no worker had it.
   */
  notSent?: { why: string; waitMs?: number; asks: boolean; isStopped?: true; isTakenBack?: true };
  /**
   * Why nothing is sent without a person ('cap', 'policy', 'hold'), without funds ('short') or at
   * all ('stale'). `waits`: the order waits for funds, and nobody is asked.
   */
  blocked?: {
    by: 'cap' | 'policy' | 'hold' | 'short' | 'stale';
    why: string;
    toApprove?: ApprovedAmount;
    rules?: BreachedRule[];
    waits?: boolean;
  };
  /** An operator closes the order as absent or, with `refused`, refuses what a cap or rule blocks. */
  closing?: { by: string; refused?: string };
  cancelled: boolean;
  /**
   * 'delayed': its start time has passed. 'allowed': an operator permits the first send nevertheless.
   * 'over': its latest send time has passed, so nothing is sent any more.
   */
  late?: 'delayed' | 'allowed' | 'over';
  /** A look-up was answered since the last attempt or doubt. */
  looked: boolean;
  budget: Budget;
}

/** Attempts without a send, or excused ones, after which an operator is asked. */
export const MAX_ROUNDS = { notSent: 50, excused: 20 };

export function openFacts(resend: 'once' | 'never' | undefined, movesMoneyAtOnce: boolean, doubt?: Doubt): Facts {
  const resends = resend === 'never' ? 0 : movesMoneyAtOnce ? 1 : 2;
  return {
    ...(doubt && { doubt }),
    everDoubted: doubt ? [doubt] : [],
    callback: 'none',
    cancelled: false,
    looked: false,
    budget: { resends, spent: 0, excused: 0, lastIsExcused: false, notSent: 0 },
  };
}

/** Returns true once this run or another one may have sent a create under this order id. */
export const wasEverInDoubt = ({ everDoubted }: Pick<Facts, 'everDoubted'>): boolean => everDoubted.length > 0;

export const isPlaceUnknown = ({ everDoubted }: Pick<Facts, 'everDoubted'>): boolean =>
  everDoubted.at(-1)?.place === 'unknown';

/** Returns true if this run created its order, so that no earlier run decided about it. */
export const isCreatedHere = ({ found, everDoubted }: Pick<Facts, 'found' | 'everDoubted'>): boolean =>
  found?.kind === 'ours' &&
  (found.how === 'accepted' ||
    (everDoubted.length > 0 && everDoubted.every(({ cause }) => cause === 'uncertainCreate')));

/** Returns true if a person holds the order. */
export const isHeld = ({ blocked }: Pick<Facts, 'blocked'>): boolean => blocked?.by === 'hold';

/** Returns true if no look-up has followed the last callback yet. */
export const isCallbackNew = ({ callback }: Pick<Facts, 'callback'>): boolean =>
  callback === 'fresh' || callback === 'fresh again';

/** An order that may be adopted. `differences`: fields that differ from ours, if read. */
export interface Candidate {
  order_uuid: string;
  differences?: string[];
}

export interface Ours {
  kind: 'ours';
  order: Order;
  how: 'accepted' | 'adopted';
  /** Fields that the service shows in another form. They raise attention. */
  soft?: readonly string[];
  /** Differences that an operator accepted. */
  acceptedDifferences?: string[];
  /** Why its amount is above cap and approval. */
  aboveCap?: string;
}

/** Something under our id that is not simply our order. */
export interface Conflict {
  kind: 'conflict';
  reason: string;
  /** Those of several orders that match our request. */
  ours: readonly string[];
  /** Orders that an operator may adopt: ours or, if none is ours, those shown. */
  candidates: readonly Candidate[];
  /** An operator is asked without further readings. */
  askAtOnce?: true;
  /** The service named it in the answer to our create. */
  isNamed?: true;
  /** The order that is not like ours, and the fields that differ. */
  foreign?: { order: Order; differences: string[]; soft?: readonly string[] };
}

/** Returns true if only the id has another form, or if the service named the order for our create. */
export const isFollowable = ({ foreign, isNamed }: Conflict): boolean =>
  isNamed === true || !foreign?.differences.includes('order_id') || foreign.differences.length === 1;

/** Our order is not shown. `said`: answer of the status operation, for operators. */
interface Absent {
  kind: 'absent';
  said?: string;
  control?: Control;
}

export type Seen = Ours | Absent | Conflict;

const MAX_CANDIDATES = 3;

/** Sorts a reading into our order, none, or a conflict. Every adoption passes this echo check. */
export function seenIn(asked: Pick<OrderRun, 'type' | 'request'>, reading: LookUpReading): Seen {
  switch (reading.kind) {
    case 'absent':
      return reading;
    case 'duplicates':
      return duplicateOrders(reading);
    case 'found': {
      const { order, differences, soft, aboveCap } = reading;
      return differences.length === 0
        ? { kind: 'ours', order, how: 'adopted', soft, aboveCap }
        : foreignOrder(asked, { order, differences, soft });
    }
  }
}

/** Returns the conflict for an order that the echo check refused. */
export function foreignOrder(
  { type, request }: Pick<OrderRun, 'type' | 'request'>,
  foreign: NonNullable<Conflict['foreign']>,
): Conflict {
  const { order, differences, soft = [] } = foreign;
  const shown = shownDifferences(type, request, order, differences);
  const unlike = [...differences, ...soft];
  const asked: RequestFields = request;
  const alike = factsOf(type).echoes.flatMap(([field]) => (asked[field] && !unlike.includes(field) ? [field] : []));
  const what = differences.includes('order_id') ? 'is shown for our id and differs in' : 'has our id but differs in';
  return {
    kind: 'conflict',
    reason: `order ${order.order_uuid} ${what} ${shown}; matching: ${alike.join(', ') || 'nothing'}; status ${order.status.slice(0, 40)}`,
    ours: [],
    candidates: [{ order_uuid: order.order_uuid, differences }],
    foreign,
    // Only our id has another form, and no later reading changes that.
    ...(differences.join() === 'order_id' && { askAtOnce: true }),
  };
}

/** Returns the conflict for several orders under our id, even if only one is like ours. */
export function duplicateOrders({ orderUuids, ours }: DuplicateOrders): Conflict {
  const like = ours.length > 0 ? `like this payment: ${ours.join(', ')}` : 'none is this payment';
  const reason = `the service shows several orders under our id: ${orderUuids.join(', ')} (${like})`;
  const shown = ours.length > 0 ? ours : orderUuids;
  const candidates = shown.slice(0, MAX_CANDIDATES).map((order_uuid) => ({ order_uuid }));
  return { kind: 'conflict', reason, ours, candidates };
}
