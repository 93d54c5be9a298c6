/** A process of `simulator/pool.ts`: lives the stories that it is sent. */
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

// Whoever waited for the story is gone.
process.on('disconnect', () => process.exit());

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
