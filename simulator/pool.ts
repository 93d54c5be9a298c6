import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Answer, Begin } from './child.js';
import type { Story } from './found.js';
import type { Told } from './tell.js';

const WITHOUT_END: Told = {
  ...{ broken: ['no end: something goes round without a rest'], acts: [], lines: [] },
  ...{ sum: 'no end', ordersPerCpuSecond: 0 },
};

/** Longest time of a story, in ms. Whoever goes round without a rest lets no virtual time pass. */
const STORY_MS = 5 * 60_000;

/** Processes with virtual clocks, each of which lives one story at a time. */
export class Pool {
  readonly #idle: ChildProcess[];
  readonly #waiting: ((child: ChildProcess) => void)[] = [];

  constructor(
    size: number,
    private readonly begin: Begin,
  ) {
    this.#idle = Array.from({ length: size }, () => this.#fork());
  }

  #fork(): ChildProcess {
    const child = fork(new URL('child.ts', import.meta.url), { serialization: 'advanced' });
    child.send(this.begin);
    return child;
  }

  /** Lives a story as soon as a process is free. Throws if the simulator itself fails. */
  async tell(story: Story): Promise<Told> {
    const child = this.#idle.shift() ?? (await new Promise<ChildProcess>((resolve) => this.#waiting.push(resolve)));
    const ended = new AbortController();
    const { signal } = ended;
    const gone = once(child, 'exit', { signal }).then(([code]) => ({ failed: `its process ended: ${code}` }));
    const late = sleep(STORY_MS, { told: WITHOUT_END }, { signal });
    for (const one of [gone, late]) one.catch(() => undefined);
    child.send(story);
    const answer: Answer = await Promise.race([once(child, 'message', { signal }).then(([one]) => one), gone, late]);
    ended.abort();
    if ('told' in answer && answer.told === WITHOUT_END) child.kill('SIGKILL');
    const free = child.killed ? this.#fork() : child;
    const next = this.#waiting.shift();
    if (next) next(free);
    else this.#idle.push(free);
    if ('failed' in answer) throw new Error(`seed ${story.seed}: ${answer.failed}`);
    return answer.told;
  }

  /** Ends the processes, which wait for stories. */
  close(): void {
    for (const child of this.#idle) child.disconnect();
  }
}
