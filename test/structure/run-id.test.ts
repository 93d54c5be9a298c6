import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { readSources } from '../../scripts/import-directions.js';

/**
 * A run that a reset made replays the steps of the run before it with another run id. So that id may say how an order ends and
 * what people read, and never which step comes next. Every line of an order that asks by it stands here, with its reason.
 */
const ASKS_BY_RUN = /\bisReset\(\)|\bmayHave(?:Been)?Sent\(run\)|\bworkflowInfo\(\)\.runId\b|\brun\.runId\b/;

const ALLOWED: readonly { file: string; lines: readonly RegExp[] }[] = [
  // An input that is refused ends the run: in one that may have sent, as unresolved.
  {
    file: 'src/workflows/identity.ts',
    lines: [
      /close\(run, 'InvalidOrder'/,
      /This run sent nothing, an earlier one may have/,
      // The question of what is no order, such as a batch.
      /^export const isReset = /,
    ],
  },
  // Words.
  { file: 'src/workflows/ask/ask.ts', lines: [/run\.phase === 'creating' && !mayHaveBeenSent/] },
  { file: 'src/workflows/create/create-order.ts', lines: [/^ +enterPhase\(run, mayHaveSent\(run\) \? 'uncertain'/] },
  { file: 'src/workflows/order/hold.ts', lines: [/mayHaveSent\(run\) \? HELD_IF_NOT : undefined/] },
  {
    file: 'src/workflows/order/page.ts',
    lines: [/return sentWords\(/, /^const choicesOf = .* decisionsOf\(run, workflowInfo\(\)\.runId\);$/],
  },
  // Each ends the run where it is true of the run before.
  {
    file: 'src/workflows/create/create-order.ts',
    lines: [/^ {2}isReset\(\) && facts\.absence/, /isAnswered \|\| isReset\(\)/],
  },
  { file: 'src/workflows/create/attempt.ts', lines: [/kind: 'notSent', reason: message/] },
  // The questions themselves.
  {
    file: 'src/workflows/order/state.ts',
    lines: [/^export const isReset = /, /^export const mayHaveSent = /],
  },
];

/** Runs of orders; batches, tracing and the binding of payloads have their own. */
const OF_ORDERS = /^src\/workflows\/(?:order|create|ask|follow|compensation)\/|^src\/workflows\/identity\.ts$/;

const unexplained = (path: string, text: string): string[] =>
  text.split('\n').flatMap((line) => {
    const isAllowed = ALLOWED.some(({ file, lines }) => file === path && lines.some((allowed) => allowed.test(line)));
    return ASKS_BY_RUN.test(line) && !isAllowed ? [`${path}: ${line.trim()}`] : [];
  });

test('the run id orders no step of an order', () => {
  const found = readSources(fileURLToPath(new URL('../..', import.meta.url)))
    .filter(({ path }) => OF_ORDERS.test(path))
    .flatMap(({ path, text }) => unexplained(path, text));
  expect(found).toEqual([]);
});

test('the search finds a step that is chosen by it', () => {
  const code = '  if (mayHaveSent(run)) return readAbsence(create, why);';
  expect(unexplained('src/workflows/create/create-order.ts', code)).toHaveLength(1);
});
