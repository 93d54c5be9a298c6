import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import type { Logger, NativeConnection } from '@temporalio/worker';
import type { Rollout } from '../config.js';
import { createTaskQueue } from '../contract/names.js';
import type { Limiter } from '../payment-service/limiter.js';

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

/**
 * Requests a second of each of `workers` workers. Evenly spaced, each may send one more than its rate in any window: with all of
 * them, and 7 % of it late, they stay below 1.05 times the limit over 5 s. Below one request a second no spacing can.
 */
export function shareOf(limit: number, workers: number): number {
  const used = Math.min(USED, 0.98 - workers / (WINDOW_S * limit));
  return (limit * Math.max(USED_AT_LEAST, used)) / workers;
}

/** Who polls the create queue of an account, and the limit that an operator set on it. */
export interface SeenQueue {
  /** When each identity polled last, by the server's clock. */
  pollers: ReadonlyMap<string, number>;
  limit?: number | undefined;
}

/** This worker's part of one account's limit, from what the server shows of the account's create queue. */
export class LimitShare {
  #changed = new Map<string, { polledAt: number; seenAtMs: number }>();
  #noticedAtMs: number | undefined;

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

  /** Requests a second from now on, by `nowMs` of a clock that only runs forward; undefined = no limit. */
  rate({ pollers, limit = this.configured }: SeenQueue, nowMs: number): number | undefined {
    this.#note(pollers, nowMs);
    const alive = [...this.#changed].filter(([, { seenAtMs }]) => nowMs - seenAtMs < GONE_AFTER_MS);
    const own = this.#changed.get(this.identity);
    if (!own || nowMs - own.seenAtMs >= UNSEEN_AFTER_MS) this.#noticedAtMs = undefined;
    // Of two that start at once, the one that polled later sees the other one: only one can find itself alone.
    else this.#noticedAtMs ??= alive.length === 1 ? nowMs : nowMs + NOTICED_AFTER_MS;
    if (limit === undefined) return undefined;
    const noticed = this.#noticedAtMs !== undefined && nowMs >= this.#noticedAtMs;
    return noticed ? shareOf(limit, alive.length) : Math.min(limit * UNNOTICED_SHARE, shareOf(limit, alive.length + 1));
  }

  /** Clocks of two machines are never compared: what counts is when this worker saw that another one had polled again. */
  #note(pollers: SeenQueue['pollers'], nowMs: number): void {
    for (const [identity, polledAt] of pollers) {
      const known = this.#changed.get(identity);
      if (known?.polledAt !== polledAt) this.#changed.set(identity, { polledAt, seenAtMs: nowMs });
    }
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

/** Keeps the rates of the accounts' limiters right until `stop`; the log hears of changes, and of what the service refused. */
export function shareLimits(
  accounts: readonly SharedAccount[],
  target: { connection: NativeConnection; namespace: string; identity: string; version?: Rollout['version'] },
  log: Pick<Logger, 'info' | 'warn'>,
): () => void {
  const shares = accounts.map((account) => {
    const share = new LimitShare(target.identity, account.requestsPerSecond);
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
      return share.isSeen;
    };
  });
  let timer: NodeJS.Timeout | undefined;
  const refreshIn = (waitMs: number) => {
    timer = setTimeout(async () => {
      // While the server cannot be asked, what is known holds: a worker that it does not hear of gets nothing to do.
      const seen = await Promise.all(shares.map((share) => share().catch(() => true)));
      if (timer) refreshIn(seen.every(Boolean) ? REFRESH_MS : FIRST_POLL_MS);
    }, waitMs);
  };
  refreshIn(FIRST_POLL_MS);
  return () => {
    clearTimeout(timer);
    timer = undefined;
  };
}

/** A worker's first poll takes about so long. */
const FIRST_POLL_MS = 500;

/** By their numbers on the wire. */
const ACTIVITY_QUEUE = 2;
const ENHANCED_MODE = 1;

/** What the server calls a version. */
export const versionName = ({ deploymentName, buildId }: NonNullable<Rollout['version']>): string =>
  `${deploymentName}:${buildId}`;

interface Asking {
  connection: NativeConnection;
  namespace: string;
  version?: Rollout['version'];
}

/**
 * Asks in both ways: the limit is told in the one, and only the other one counts pollers of all partitions, of the versions that it
 * is asked for. Those are the ones that may have work: this one, the current and the ramping one, and whatever else polls.
 */
async function seenQueue({ connection, namespace, version }: Asking, account: string): Promise<SeenQueue> {
  const asked = { namespace, taskQueue: { name: createTaskQueue(account) }, taskQueueType: ACTIVITY_QUEUE };
  const { workflowService } = connection;
  const { pollers, config, versioningInfo } = await workflowService.describeTaskQueue({ ...asked, reportConfig: true });
  const { currentDeploymentVersion, rampingDeploymentVersion } = versioningInfo ?? {};
  const polling = (pollers ?? []).map(({ deploymentOptions }) => deploymentOptions);
  const versions = [version, currentDeploymentVersion, rampingDeploymentVersion, ...polling].flatMap((other) =>
    other?.deploymentName && other.buildId
      ? [versionName({ deploymentName: other.deploymentName, buildId: other.buildId })]
      : [],
  );
  const { versionsInfo } = await workflowService.describeTaskQueue({
    ...asked,
    apiMode: ENHANCED_MODE,
    taskQueueTypes: [ACTIVITY_QUEUE],
    reportPollers: true,
    ...(versions.length > 0 && { versions: { unversioned: true, buildIds: [...new Set(versions)] } }),
  });
  const everywhere = Object.values(versionsInfo ?? {}).flatMap(({ typesInfo }) =>
    Object.values(typesInfo ?? {}).flatMap((info) => info.pollers ?? []),
  );
  const seen = new Map<string, number>();
  for (const { identity, lastAccessTime } of [...(pollers ?? []), ...everywhere]) {
    const polledAt = Number(lastAccessTime?.seconds ?? 0) * 1_000 + (lastAccessTime?.nanos ?? 0) / 1e6;
    if (identity) seen.set(identity, Math.max(polledAt, seen.get(identity) ?? 0));
  }
  return { pollers: seen, limit: config?.queueRateLimit?.rateLimit?.requestsPerSecond ?? undefined };
}
