import type { ConnectionLike } from '@temporalio/client';
import type { Logger } from '@temporalio/worker';

const REFRESH_MS = 3_000;

/** The newest failover of a namespace, after which Temporal may lack recent writes. */
export class Failovers {
  #seen: { isGlobal: boolean; version: string } | undefined;
  #newestMs: number | undefined;
  #isFailing = false;

  constructor(
    private readonly connection: Pick<ConnectionLike, 'workflowService'>,
    private readonly namespace: string,
    private readonly log: Pick<Logger, 'warn'>,
  ) {}

  /** Time of the last failover in ms since the epoch; undefined if unknown. */
  get newestMs(): number | undefined {
    return this.#newestMs;
  }

  /** Asks Temporal. Never rejects: without an answer, the last one remains. */
  async look(): Promise<void> {
    try {
      await this.#ask();
      this.#isFailing = false;
    } catch {
      if (!this.#isFailing) this.log.warn(UNREAD, { namespace: this.namespace });
      this.#isFailing = true;
    }
  }

  /** Asks before a send, unless the namespace is local, because a failover must stop the send. */
  async lookBeforeSend(): Promise<void> {
    if (this.#seen?.isGlobal !== false) await this.look();
  }

  /** Asks every few seconds until the returned function is called. */
  start(): () => void {
    const timer = setInterval(() => void this.look(), REFRESH_MS).unref();
    return () => clearInterval(timer);
  }

  async #ask(): Promise<void> {
    const { namespace } = this;
    const shown = await this.connection.workflowService.describeNamespace({ namespace });
    const times = (shown.failoverHistory ?? []).map(({ failoverTime }) => Number(failoverTime?.seconds ?? 0) * 1_000);
    const now = { isGlobal: shown.isGlobalNamespace ?? false, version: String(shown.failoverVersion ?? 0) };
    const [before, known] = [this.#seen, this.#newestMs ?? 0];
    this.#seen = now;
    const reported = Math.max(...times, known);
    // A failover that the history lacks began before this moment.
    const isUnreported = before !== undefined && before.version !== now.version && reported === known;
    const newestMs = isUnreported ? Date.now() : reported;
    if (newestMs === known) return;
    this.#newestMs = newestMs;
    if (before) this.log.warn(FAILED_OVER, { namespace, at: new Date(newestMs).toISOString() });
  }
}

const FAILED_OVER =
  'the namespace failed over: Temporal may have lost what it wrote last. No order is sent until ORDER_SETTLE_WINDOW after it, orders are only looked for. Before that, stop and hold again what was stopped or held right before it';

const UNREAD =
  'Temporal does not say whether the namespace failed over: a failover is not seen until it does. Let this worker describe the namespace, or set TEMPORAL_RESTORED_AT after a failover';
