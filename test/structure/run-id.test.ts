import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { readSources } from '../../scripts/import-directions.js';

/**
 * A run that a reset made replays the steps of the run before it with another run id. So that id may say how an order ends and
 * what people read, and never which step comes next. Every line of an order that asks by it stands here, with its reason.
 */
const ASKS_BY_RUN = /\b(?:thisRunSentNothing|noSendInDoubt|noRunEverSent)\(run\)|\brun\.runId\b/;

const ALLOWED: readonly { file: string; lines: readonly RegExp[] }[] = [
  // An input that is refused ends the run: in one that may have sent, as unresolved.
  {
    file: 'src/workflows/identity.ts',
    lines: [/closeWithoutOrder\(/, /check(?:Account|ShownName)\(/],
  },
  // Words.
  { file: 'src/workflows/ask/ask.ts', lines: [/run\.phase === 'creating' && noRunEverSent/] },
  { file: 'src/workflows/order/details.ts', lines: [/\*\*Sent\*\*/] },
  { file: 'src/workflows/order/show.ts', lines: [/^ +runId: run\.runId,$/] },
  // Each ends the run where it is true.
  { file: 'src/workflows/create/create-order.ts', lines: [/return cancelled\(run\)/] },
  { file: 'src/workflows/create/attempt.ts', lines: [/return cancelled\(run\)/, /kind: 'notSent', reason: message/] },
  {
    file: 'src/workflows/create/after-attempt.ts',
    lines: [/return closed\('OrderCancelled'/, /'nothing was sent' : 'not sent again'/, /if \(!quick \|\| /],
  },
  { file: 'src/workflows/create/end-unsent.ts', lines: [/return end\(\);/, /\? end\(\) : otherwise/] },
  {
    file: 'src/workflows/create/conclude.ts',
    lines: [/if \(noRunEverSent\(run\)\) \{/, /noRunEverSent\(run\) && !run\.sends\.rejected/],
  },
  // Absence that another run has read ends nothing: it is read once more.
  { file: 'src/workflows/create/settle.ts', lines: [/seen\.kind !== 'absent' \|\| run\.answeredIn === run\.runId/] },
  // The questions themselves.
  {
    file: 'src/workflows/order/state.ts',
    lines: [/thisRunSentNothing\(run\) && /, /run\.sends\.accountUnknown \|\| /],
  },
];

const unexplained = (path: string, text: string): string[] =>
  text.split('\n').flatMap((line) => {
    const isAllowed = ALLOWED.some(({ file, lines }) => file === path && lines.some((allowed) => allowed.test(line)));
    return ASKS_BY_RUN.test(line) && !isAllowed ? [`${path}: ${line.trim()}`] : [];
  });

test('the run id orders no step of an order', () => {
  const found = readSources(fileURLToPath(new URL('../..', import.meta.url)))
    .filter(({ path }) => path.startsWith('src/workflows/'))
    .flatMap(({ path, text }) => unexplained(path, text));
  expect(found).toEqual([]);
});

test('the search finds a step that is chosen by it', () => {
  const code = '  if (noSendInDoubt(run)) return settleEarlierRun(run);';
  expect(unexplained('src/workflows/create/after-attempt.ts', code)).toHaveLength(1);
});
