import { activityInfo, cancellationSignal } from '@temporalio/activity';
import { BATCH_ROW_PRIORITY } from '../../contract/names.js';
import { NotSentError, RateLimitedError } from '../../payment-service/errors.js';
import type { Account } from '../deps.js';

/** How long a question may wait for others, and its cancellation. */
export interface Patience {
  patienceMs: number;
  /** Others will come, so even the first question waits. */
  othersCome?: boolean;
  signal?: AbortSignal;
}

/** How to read a group's answer, and how to ask alone. */
export interface Ways<A, T> {
  shown: (answer: A) => T;
  alone: () => Promise<T>;
}

/** Maximum size of a group, and maximum waiting questions in all groups. */
interface GatheringLimits {
  most: number;
  mostWaiting: number;
}

/**
 * Asks one request for a group. `close` ends joining and returns the questions. If the answer is
 * undefined, each question is asked alone.
 */
type AskGroup<Q, A> = (close: () => readonly Q[]) => Promise<(question: Q) => A | undefined>;

interface Member<Q, A> {
  question: Q;
  resolve: (answer: A | undefined) => void;
  reject: (error: unknown) => void;
}

interface Group<Q, A> {
  members: Set<Member<Q, A>>;
  leavesAtMs: number;
  timer?: NodeJS.Timeout;
  /** The request has started. Others may join until its turn at the rate limit. */
  left: boolean;
}

/** After a group without an answer, questions are asked alone for this time. */
const REST_MS = 5_000;

/**
 * If more than this share, and more than a few, get no answer, the next groups are smaller: the
 * service may cut its lists.
 */
const UNANSWERED = { share: 0.1, few: 3 };

/**
 * Questions that one request answers together. A group is sent at its earliest deadline or when
 * full; a single question waits only if others will come.
 */
export class Gathering<Q, A> {
  #open?: Group<Q, A>;
  #asking = 0;
  #askedAtMs = Number.NEGATIVE_INFINITY;
  #restUntilMs = Number.NEGATIVE_INFINITY;
  #most: number;

  constructor(
    private readonly askGroup: AskGroup<Q, A>,
    private readonly limits: GatheringLimits,
  ) {
    this.#most = limits.most;
  }

  /** Asks one question, in a group or alone. Throws what `alone` throws, and RateLimitedError. */
  async ask<T>(question: Q, patience: Patience, { shown, alone }: Ways<A, T>): Promise<T> {
    const { patienceMs, othersCome = false, signal } = patience;
    const nowMs = performance.now();
    const isAlone = !othersCome && this.#asking === 0 && nowMs - this.#askedAtMs > patienceMs;
    this.#askedAtMs = nowMs;
    this.#asking += 1;
    try {
      const asksAlone = isAlone || nowMs < this.#restUntilMs;
      const answer = asksAlone ? undefined : await this.#join(question, nowMs + patienceMs, signal);
      return answer === undefined ? await alone() : shown(answer);
    } finally {
      this.#asking -= 1;
    }
  }

  #join(question: Q, leavesAtMs: number, signal?: AbortSignal): Promise<A | undefined> {
    this.#open ??= { members: new Set(), leavesAtMs: Number.POSITIVE_INFINITY, left: false };
    const group = this.#open;
    return new Promise((resolve, reject) => {
      const member = { question, resolve, reject };
      const giveUp = () => {
        group.members.delete(member);
        reject(new NotSentError('aborted'));
      };
      if (signal?.aborted) return giveUp();
      signal?.addEventListener('abort', giveUp, { once: true });
      group.members.add(member);
      if (group.members.size >= this.#most || this.#isCrowded(group)) this.#leave(group);
      else this.#leaveBy(group, leavesAtMs);
      if (group.members.size >= this.#most) this.#close(group);
    });
  }

  /** Returns true if too many questions hold a slot and half of them are in this group. */
  #isCrowded({ members }: Group<Q, A>): boolean {
    const { mostWaiting } = this.limits;
    return this.#asking >= mostWaiting && members.size >= mostWaiting / 2;
  }

  #leaveBy(group: Group<Q, A>, atMs: number): void {
    if (group.left || atMs >= group.leavesAtMs) return;
    clearTimeout(group.timer);
    group.leavesAtMs = atMs;
    group.timer = setTimeout(() => this.#leave(group), atMs - performance.now());
  }

  #leave(group: Group<Q, A>): void {
    if (group.left) return;
    group.left = true;
    clearTimeout(group.timer);
    // A question that nobody joined is asked as if there were no groups.
    if (group.members.size < 2) this.#answer(this.#close(group), () => undefined);
    else void this.#send(group);
  }

  /** Closes a group. */
  #close(group: Group<Q, A>): readonly Member<Q, A>[] {
    if (this.#open === group) this.#open = undefined;
    return [...group.members];
  }

  async #send(group: Group<Q, A>): Promise<void> {
    try {
      const answerOf = await this.askGroup(() => this.#close(group).map(({ question }) => question));
      this.#answer(this.#close(group), answerOf);
    } catch (error) {
      const members = this.#close(group);
      // After a 429, its members would be refused alone, too.
      if (error instanceof RateLimitedError) for (const { reject } of members) reject(error);
      else this.#answer(members, () => undefined);
    }
  }

  #answer(members: readonly Member<Q, A>[], answerOf: (question: Q) => A | undefined): void {
    const answers = members.map(({ question }) => answerOf(question));
    if (members.length > 1) this.#learn(answers.length, answers.filter((answer) => answer !== undefined).length);
    for (const [index, { resolve }] of members.entries()) resolve(answers[index]);
  }

  #learn(asked: number, answered: number): void {
    const isEnough = answered > 0 && asked - answered <= Math.max(UNANSWERED.share * asked, UNANSWERED.few);
    this.#most = isEnough ? Math.min(2 * this.#most, this.limits.most) : Math.max(answered, 2);
    if (answered === 0) this.#restUntilMs = performance.now() + REST_MS;
  }
}

/** Waits of look-ups for others: short for a single order, long for a row of a batch. */
const PATIENCE_MS = { single: 20, row: 1_000 };
/** Creates of a wave reach their turns together, so a row can wait for them. */
const PROBE_MS = { heldUp: 50, row: 600 };

/**
 * Under a low limit, rows are rare: this many turns make a look-up a small part of a row's cost.
 */
const TURNS_PER_ROW_LOOK_UP = 26;
const LONGEST_ROW_MS = 8_000;

/** Returns how long this activity's look-up may wait for others. */
export function patience({ limiter }: Pick<Account, 'limiter'>): Patience {
  const rowMs = Math.min(Math.max(PATIENCE_MS.row, TURNS_PER_ROW_LOOK_UP * limiter.intervalMs), LONGEST_ROW_MS);
  return { patienceMs: isRow() ? rowMs : PATIENCE_MS.single, signal: cancellationSignal() };
}

const isRow = (): boolean => (activityInfo().priority?.priorityKey ?? 0) >= BATCH_ROW_PRIORITY;

/** Returns the same for the probe before a create. `heldUp`: the create waited for its turn. */
export function probePatience({ limiter }: Pick<Account, 'limiter'>, heldUp: boolean): Patience {
  const signal = cancellationSignal();
  if (!isRow()) return { patienceMs: PATIENCE_MS.single, signal };
  if (limiter.intervalMs === 0) return { patienceMs: PATIENCE_MS.row, othersCome: true, signal };
  return { patienceMs: heldUp ? PROBE_MS.heldUp : PROBE_MS.row, othersCome: true, signal };
}

/** Maximum age of a probe when its create's turn comes. */
const PROBE_FRESH_MS = 2_000;

/** Below one request per second, the turn comes later than this after the probe. */
export const freshUntilMs = ({ limiter }: Account): number =>
  performance.now() + Math.max(PROBE_FRESH_MS, 3 * limiter.intervalMs);
