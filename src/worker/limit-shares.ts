import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from '@temporalio/worker';
import type { Limiter } from '../payment-service/limiter.js';
import { type Asking, type SeenQueue, seenQueue } from '../temporal/pollers.js';
import { type Protections, publishedBy } from '../temporal/published.js';

const REFRESH_MS = 5_000;

/** Age of a poll from which a worker is gone. Killed workers count until then. */
const GONE_AFTER_MS = 90_000;
/** A worker that the server has not seen for this time slows down before others drop it. */
const UNSEEN_AFTER_MS = 75_000;
/** All other workers have seen this worker by then. */
const NOTICED_AFTER_MS = 2 * REFRESH_MS;

/** Share of the limit that an unnoticed worker may use. */
const UNNOTICED_SHARE = 0.02;

/** Used share of the limit. The rest is for requests that arrive late. */
const USED = 0.93;
const USED_AT_LEAST = 0.3;
const WINDOW_S = 5;

/** Returns the rate of each worker: together at most 1.05 times the limit over 5 s. */
export function shareOf(limit: number, workers: number): number {
  const used = Math.min(USED, 0.98 - workers / (WINDOW_S * limit));
  return (limit * Math.max(USED_AT_LEAST, used)) / workers;
}

/** This worker's share of an account's limit, by the pollers of its create queue. */
export class LimitShare {
  #changed = new Map<string, { polledAt: number; seenAtMs: number; isProven: boolean }>();
  #noticedAtMs: number | undefined;
  #alive: { identity: string; isProven: boolean }[] = [];
  #hasLooked = false;

  constructor(
    private readonly identity: string,
    private readonly configured: number | undefined,
  ) {}

  /** Returns the rate before the first look. */
  get unnoticed(): number | undefined {
    return this.configured && this.configured * UNNOTICED_SHARE;
  }

  /** Returns true while the server lists this worker. */
  get isSeen(): boolean {
    return this.#noticedAtMs !== undefined;
  }

  /** Returns the account's other workers. `isProven`: it polled after our first look. */
  get others(): { identity: string; isProven: boolean }[] {
    return this.#alive.filter(({ identity }) => identity !== this.identity);
  }

  /** Returns the rate by a monotonic clock; undefined = no limit. */
  rate({ pollers, limit = this.configured }: SeenQueue, nowMs: number): number | undefined {
    this.#note(pollers, nowMs);
    this.#alive = [...this.#changed].flatMap(([identity, { seenAtMs, isProven }]) =>
      nowMs - seenAtMs < GONE_AFTER_MS ? { identity, isProven } : [],
    );
    const alive = this.#alive.length;
    const own = this.#changed.get(this.identity);
    if (!own || nowMs - own.seenAtMs >= UNSEEN_AFTER_MS) this.#noticedAtMs = undefined;
    // If two start at once, the later poller sees the other: only one can find itself alone.
    else this.#noticedAtMs ??= alive === 1 ? nowMs : nowMs + NOTICED_AFTER_MS;
    if (limit === undefined) return undefined;
    const noticed = this.#noticedAtMs !== undefined && nowMs >= this.#noticedAtMs;
    return noticed ? shareOf(limit, alive) : Math.min(limit * UNNOTICED_SHARE, shareOf(limit, alive + 1));
  }

  /** Uses only this worker's clock: when it saw that another one had polled again. */
  #note(pollers: SeenQueue['pollers'], nowMs: number): void {
    for (const [identity, polledAt] of pollers) {
      const known = this.#changed.get(identity);
      // A worker in the first look may have ended: the server lists pollers for minutes.
      if (known?.polledAt !== polledAt)
        this.#changed.set(identity, { polledAt, seenAtMs: nowMs, isProven: this.#hasLooked });
    }
    this.#hasLooked = true;
    for (const [identity, { seenAtMs }] of this.#changed) {
      if (nowMs - seenAtMs >= GONE_AFTER_MS && !pollers.has(identity)) this.#changed.delete(identity);
    }
  }
}

/**
 * Returns an identity that is unique across containers, and short, because most events contain it.
 */
export const newIdentity = (): string => `${hostname()}-${randomBytes(3).toString('base64url')}`;

/** Account with a shared limit. */
interface SharedAccount {
  name: string;
  requestsPerSecond: number | undefined;
  limiter: Limiter;
}

/** Settings that other workers publish. `proven`: only of workers that are certainly running. */
interface Others {
  all: readonly Protections[];
  proven: readonly Protections[];
}

/** Returns the different settings, however many workers have each. */
const kindsOf = (published: readonly Protections[]): string =>
  [...new Set(published.map((one) => JSON.stringify(one)))].sort().join();

/** The server to ask, and this worker's identity on the create queue of an account. */
interface Target extends Asking {
  identityFor: (account: string) => string;
}

/** Updates limits and what other workers publish until `stop`; resolves after the first look. */
export async function watchWorkers(
  accounts: readonly SharedAccount[],
  target: Target,
  log: Pick<Logger, 'info' | 'warn'>,
  onChange: () => void = () => undefined,
) {
  const seenOthers = new Map<string, Others>();
  const shares = accounts.map((account) => {
    const share = new LimitShare(target.identityFor(account.name), account.requestsPerSecond);
    let told: number | undefined;
    account.limiter.setRate(share.unnoticed);
    account.limiter.onSlowDown = (retryAfterMs) =>
      log.warn('the service answers 429: nothing is sent for so long, then the pace is halved', {
        account: account.name,
        retryAfterMs,
      });
    return async () => {
      const rate = share.rate(await seenQueue(target, account.name), performance.now());
      account.limiter.setRate(rate);
      if (rate !== told)
        log.info("share of the account's limit", { account: account.name, requestsPerSecond: rate ?? null });
      told = rate;
      const read = (some: typeof share.others) => some.flatMap(({ identity }) => publishedBy(identity) ?? []);
      const others = { all: read(share.others), proven: read(share.others.filter(({ isProven }) => isProven)) };
      const before = seenOthers.get(account.name)?.proven ?? [];
      seenOthers.set(account.name, others);
      if (kindsOf(others.proven) !== kindsOf(before)) onChange();
      return share.isSeen;
    };
  });
  // While the server cannot be asked, what is known holds.
  const lookAll = () => Promise.all(shares.map((look) => look().catch(() => undefined)));
  // Nothing known is not "no others": settings of theirs may be stricter.
  while ((await lookAll()).includes(undefined)) {
    log.warn("Temporal does not show the account's other workers: no task is taken until it does");
    await sleep(REFRESH_MS);
  }
  const startedAtMs = performance.now();
  let timer: NodeJS.Timeout | undefined;
  let isSeen = false;
  const refreshIn = (waitMs: number) => {
    timer = setTimeout(async () => {
      isSeen = (await lookAll()).every((seen) => seen !== false);
      const isSettled = isSeen && performance.now() - startedAtMs > STARTING_MS;
      if (timer) refreshIn(isSettled ? REFRESH_MS : FIRST_POLL_MS);
    }, waitMs);
  };
  refreshIn(FIRST_POLL_MS);
  const differs = ({ name }: SharedAccount): boolean => {
    const kinds = kindsOf(seenOthers.get(name)?.all ?? []);
    return kinds !== '' && kinds !== kindsOf([publishedBy(target.identityFor(name)) ?? []].flat());
  };
  return {
    others: (account: string): Others => seenOthers.get(account) ?? { all: [], proven: [] },
    /** Resolves once the other workers apply this one's settings, after 9 s at the latest. */
    noticed: async (): Promise<void> => {
      while (!isSeen && performance.now() - startedAtMs < UNSEEN_MOST_MS) await sleep(FIRST_POLL_MS / 5);
      if (accounts.some(differs)) await sleep(ANOTHER_LOOK_MS);
    },
    stop: () => {
      clearTimeout(timer);
      timer = undefined;
    },
  };
}

/** Workers that start together look often at first: each learns soon what the others publish. */
const STARTING_MS = 10_000;

/** A start does not wait longer than that for Temporal to show the worker. */
const UNSEEN_MOST_MS = 3_000;

/** By then each of the other workers has looked again. */
const ANOTHER_LOOK_MS = REFRESH_MS + 1_000;

/** A worker's first poll takes about so long. */
const FIRST_POLL_MS = 500;
