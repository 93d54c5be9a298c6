import { setTimeout as sleep } from 'node:timers/promises';
import type { ActivityDeps } from '../src/activities/index.js';
import type { OutgoingEvent } from '../src/contract/events.js';
import { verifyEvent } from '../src/index.js';
import type { Process } from './process.js';
import type { Random } from './random.js';

/** Signs the events of these stories. */
export const EVENT_SECRET = `whsec_${Buffer.from('the simulator signs events').toString('base64')}`;

type Post = NonNullable<ActivityDeps['post']>;

/** Who gets events, without sockets. */
export class Receivers {
  /** Events that were answered with 200, in their order, by host. */
  readonly got = new Map<string, { id: string; event: Omit<OutgoingEvent, 'id'> }[]>();
  /** Hosts that are down, and the share of posts that fail at others. */
  readonly down = new Set<string>();
  failing = 0;

  constructor(private readonly random: Random) {}

  postOf =
    (process: Process): Post =>
    async ({ url }, headers, body) => {
      const transitMs = this.random.between(5, 200);
      const fails = this.random.chance(this.failing);
      const isTaken = !fails || this.random.chance(0.5);
      await process.runs(sleep(transitMs));
      if (this.down.has(url.hostname)) return process.runs(sleep(10_000, 'no answer in time'));
      const event = verifyEvent(body, headers, [EVENT_SECRET]);
      const got = this.got.get(url.hostname) ?? [];
      this.got.set(url.hostname, got);
      if (isTaken) got.push({ id: headers['webhook-id'] ?? '', event });
      return process.runs(sleep(transitMs, fails ? { status: isTaken ? 500 : 503 } : { status: 200 }));
    };
}
