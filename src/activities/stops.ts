import { getClient } from '@temporalio/activity';
import { whyStopped } from '../client/accounts.js';
import type { CreateVerdict } from '../contract/order/activities.js';
import { type Account, type ActivityDeps, accountOf } from './deps.js';
import { comeBackIn } from './failures.js';
import { nextTurnMs } from './spacing.js';

/** Maximum age of what a worker knows at a send: 60 creates a second follow a stop by six. */
const FRESH_MS = 100;
/** A slower read is too old at its end. */
const READ_WITHIN_MS = 1_500;

/** Waiting orders ask again after this time, and no faster than that in one worker. */
const [ASK_AGAIN_MS, BETWEEN_MS] = [2_000, 40];

/** Knowledge of a worker about the stop of an account. It reads only before a send. */
export class Stops {
  #read: { why?: string | undefined; startedMs: number; wallMs: number } | undefined;
  #pending: Promise<string | undefined> | undefined;
  readonly #asks = { atMs: 0 };

  constructor(private readonly read: () => Promise<string | undefined>) {}

  /** Why the account was stopped at the last read; undefined if it was not. */
  get lastWhy(): string | undefined {
    return this.#read?.why;
  }

  /** Returns why nothing may be sent now; undefined if it may. Rejects if Temporal does not say. */
  async why(): Promise<string | undefined> {
    if (this.#read && this.#ageMs(this.#read) < FRESH_MS) return this.#read.why;
    this.#pending ??= this.#look().finally(() => {
      this.#pending = undefined;
    });
    return this.#pending;
  }

  /** Like `why`, but reads only if the account was stopped at the last read. */
  async stillWhy(): Promise<string | undefined> {
    const { lastWhy } = this;
    return lastWhy && this.why().catch(() => lastWhy);
  }

  /** Returns when a waiting order asks again, spread so that many orders cost little. */
  nextAskMs(): number {
    return nextTurnMs(this.#asks, ASK_AGAIN_MS, BETWEEN_MS);
  }

  async #look(): Promise<string | undefined> {
    const times = { startedMs: performance.now(), wallMs: Date.now() };
    const why = await this.read();
    this.#read = { why, ...times };
    return why;
  }

  /** The monotonic clock stops in sleep; the wall clock may be set. */
  #ageMs({ startedMs, wallMs }: { startedMs: number; wallMs: number }): number {
    return Math.max(performance.now() - startedMs, Date.now() - wallMs);
  }
}

/** Returns the stops of an account in this worker. */
export function stopsOf({ readStop }: Pick<ActivityDeps, 'readStop'>, account: Account): Stops {
  account.stops ??= new Stops(async () => readStop?.(account.name));
  return account.stops;
}

/** Returns the verdict of a create that a stop holds back. */
export const stopped = (reason: string): Extract<CreateVerdict, { kind: 'notSent' }> => ({
  kind: 'notSent',
  reason,
  stopped: true,
});

/** Reads whether an account is stopped, by a person or by the limit 0 of its create queue. */
export function readStop(account: string): Promise<string | undefined> {
  const client = getClient();
  return client.withDeadline(Date.now() + READ_WITHIN_MS, () => whyStopped(client, account));
}

/** Ends once the account is not stopped. The server repeats it without history. */
export function awaitResumeActivity(deps: ActivityDeps) {
  return async function awaitResume({ account: name }: { account: string }): Promise<void> {
    const stops = stopsOf(deps, accountOf(deps, name));
    const why = await stops.why();
    if (why) throw comeBackIn(stops.nextAskMs(), why);
  };
}
