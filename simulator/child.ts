/** A process of `simulator/pool.ts`: lives the stories that it is sent. */
import { Worker } from 'node:worker_threads';
import type { Story } from './found.js';
import { storyTeller, type Told } from './tell.js';

/** The first message to a child. */
export interface Begin {
  code: string;
  isPlanted: boolean;
}

/** What a child answers to a story. */
export type Answer = { told: Told } | { failed: string };

let teller: ReturnType<typeof storyTeller>;

// Stacks of failures take more time than failing.
Error.stackTraceLimit = 0;

// Whoever waited for the story is gone. A story without a rest would not see that, so a thread looks, too.
process.on('disconnect', () => process.exit());
const { ppid } = process;
new Worker(`setInterval(() => process.ppid === ${ppid} || process.kill(process.pid, 'SIGKILL'), 1000)`, { eval: true });

process.on('message', async (message: Begin | Story) => {
  if ('code' in message) {
    teller = storyTeller(message.code, message.isPlanted);
    return;
  }
  const answer = await teller
    .then((tell) => tell(message))
    .then(
      (told): Answer => ({ told }),
      (error: Error): Answer => ({ failed: error.stack ?? String(error) }),
    );
  process.send?.(answer);
});
