import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import type { Answer, Begin } from './child.js';
import type { Story } from './found.js';
import type { Told } from './tell.js';

/** Processes with virtual clocks, each of which lives one story at a time. */
export class Pool {
  readonly #idle: ChildProcess[];
  readonly #waiting: ((child: ChildProcess) => void)[] = [];

  constructor(size: number, begin: Begin) {
    this.#idle = Array.from({ length: size }, () => {
      const child = fork(new URL('child.ts', import.meta.url), { serialization: 'advanced' });
      child.send(begin);
      return child;
    });
  }

  /** Lives a story as soon as a process is free. Throws if the simulator itself fails. */
  async tell(story: Story): Promise<Told> {
    const child = this.#idle.shift() ?? (await new Promise<ChildProcess>((resolve) => this.#waiting.push(resolve)));
    const ended = new AbortController();
    const { signal } = ended;
    const gone = once(child, 'exit', { signal }).then(([code]) => ({ failed: `its process ended: ${code}` }));
    gone.catch(() => undefined);
    child.send(story);
    const answer: Answer = await Promise.race([once(child, 'message', { signal }).then(([one]) => one), gone]);
    ended.abort();
    const next = this.#waiting.shift();
    if (next) next(child);
    else this.#idle.push(child);
    if ('failed' in answer) throw new Error(`seed ${story.seed}: ${answer.failed}`);
    return answer.told;
  }

  /** Ends the processes, which wait for stories. */
  close(): void {
    for (const child of this.#idle) child.disconnect();
  }
}
