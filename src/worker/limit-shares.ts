import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from '@temporalio/worker';
import type { Limiter } from '../payment-service/limiter.js';
import { type Asking, type SeenQueue, seenQueue } from '../temporal/pollers.js';
import { type Protections, publishedBy } from '../temporal/published.js';

const REFRESH_MS = 5_000;

/** A worker polls at least once a minute, so that one that did not for so long is gone: killed ones count until then. */
const GONE_AFTER_MS = 90_000;
/** A worker that the server has not heard of for so long slows down before the others can count it out. */
const UNSEEN_AFTER_MS = 75_000;
/** By then all others have asked since this worker could be seen. */
const NOTICED_AFTER_MS = 2 * REFRESH_MS;

/** What a worker may send before the others know of it, of the account's limit. */
const UNNOTICED_SHARE = 0.02;

/** Part of the limit that is used at most: what is left is for requests that take longer to arrive than others. */
const USED = 0.93;
const USED_AT_LEAST = 0.3;
const WINDOW_S = 5;

/** Requests a second of each worker: together at most 1.05 times the limit over 5 s. */
export function shareOf(limit: number, workers: number): number {
  const used = Math.min(USED, 0.98 - workers / (WINDOW_S * limit));
  return (limit * Math.max(USED_AT_LEAST, used)) / workers;
}

/** This worker's part of one account's limit, from what the server shows of the account's create queue. */
export class LimitShare {
  #changed = new Map<string, { polledAt: number; seenAtMs: number; isProven: boolean }>();
  #noticedAtMs: number | undefined;
  #alive: { identity: string; isProven: boolean }[] = [];
  #hasLooked = false;

  constructor(
    private readonly identity: string,
    private readonly configured: number | undefined,
  ) {}

  /** Before the server was asked. */
  get unnoticed(): number | undefined {
    return this.configured && this.configured * UNNOTICED_SHARE;
  }

  /** True while the server shows this worker among those that poll. */
  get isSeen(): boolean {
    return this.#noticedAtMs !== undefined;
  }

  /** The account's other workers. `isProven`: it polled after the first look of this worker. */
  get others(): { identity: string; isProven: boolean }[] {
    return this.#alive.filter(({ identity }) => identity !== this.identity);
  }

  /** Requests a second from now on, by `nowMs` of a clock that only runs forward; undefined = no limit. */
  rate({ pollers, limit = this.configured }: SeenQueue, nowMs: number): number | undefined {
    this.#note(pollers, nowMs);
    this.#alive = [...this.#changed].flatMap(([identity, { seenAtMs, isProven }]) =>
      nowMs - seenAtMs < GONE_AFTER_MS ? { identity, isProven } : [],
    );
    const alive = this.#alive.length;
    const own = this.#changed.get(this.identity);
    if (!own || nowMs - own.seenAtMs >= UNSEEN_AFTER_MS) this.#noticedAtMs = undefined;
    // Of two that start at once, the one that polled later sees the other one: only one can find itself alone.
    else this.#noticedAtMs ??= alive === 1 ? nowMs : nowMs + NOTICED_AFTER_MS;
    if (limit === undefined) return undefined;
    const noticed = this.#noticedAtMs !== undefined && nowMs >= this.#noticedAtMs;
    return noticed ? shareOf(limit, alive) : Math.min(limit * UNNOTICED_SHARE, shareOf(limit, alive + 1));
  }

  /** Clocks of two machines are never compared: what counts is when this worker saw that another one had polled again. */
  #note(pollers: SeenQueue['pollers'], nowMs: number): void {
    for (const [identity, polledAt] of pollers) {
      const known = this.#changed.get(identity);
      // A worker in the first look may have ended before: the server shows pollers for minutes.
      if (known?.polledAt !== polledAt)
        this.#changed.set(identity, { polledAt, seenAtMs: nowMs, isProven: this.#hasLooked });
    }
    this.#hasLooked = true;
    for (const [identity, { seenAtMs }] of this.#changed) {
      if (nowMs - seenAtMs >= GONE_AFTER_MS && !pollers.has(identity)) this.#changed.delete(identity);
    }
  }
}

/** Tells workers apart also where containers share host name and process id. Short, since most events of a history name it. */
export const newIdentity = (): string => `${hostname()}-${randomBytes(3).toString('base64url')}`;

/** An account whose limit is shared. */
export interface SharedAccount {
  name: string;
  requestsPerSecond: number | undefined;
  limiter: Limiter;
}

/** What the account's other workers publish. `proven`: only workers that are certainly running. */
export interface Others {
  all: readonly Protections[];
  proven: readonly Protections[];
}

/** Tells whether the published settings changed, however many workers have each. */
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
