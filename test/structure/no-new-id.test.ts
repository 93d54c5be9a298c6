import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { readSources } from '../../scripts/import-directions.js';

/**
 * Paying under another id what may have been sent pays it twice. So no text says to do that; what says "never" may. `allowed`
 * are places of which nothing was sent or started, each with its reason.
 */
const ADVICE = /\b(?:an?\s+)?(?:new|another|other|different|fresh)\s+(?:(?:order|batch)(?:[ _]))?ids?\b/gi;

/** How far before the words a "never" must stand. */
const REACH = 90;

const ALLOWED: readonly { file: string; words: RegExp }[] = [
  // A plan: no row was started, and rows keep their own ids in whichever batch they stand.
  { file: 'src/activities/batch/report-batch.ts', words: /give the batch another id/ },
  // A plan that nobody approved; the same holds.
  { file: 'src/workflows/bulk-withdraw.ts', words: /nothing was sent. Start it again under another batch id/ },
  // Warns of another id, and advises the same one.
  { file: 'src/client/errors.ts', words: /Call again with the same id`; const order = `\$\{known\}\. A new id/ },
  // Says under which condition alone: the service has confirmed that nothing was paid.
  { file: 'src/contract/attention.ts', words: /its id cannot be used again\. Pay the payee under a new id/ },
  // Readings that are refused; nobody is told what to do.
  { file: 'src/activities/orders-of-ids.ts', words: /shows orders of other ids/ },
  { file: 'src/activities/reconcile/scan.ts', words: /shows orders of other ids/ },
  { file: 'src/activities/batch/plan/existing-orders.ts', words: /shows orders of other ids/ },
];

/** Code without its comments: what is left of words are the texts. */
const withoutComments = (code: string): string =>
  code.replace(/\/\*[\s\S]*?\*\//g, '').replace(/(^|\s)\/\/.*$/gm, '$1');

/** Texts that are broken over lines, as one. */
const joined = (code: string): string => code.replace(/['"`]\s*\+\s*['"`]/g, '').replace(/\s+/g, ' ');

const adviceIn = (code: string): string[] =>
  [...joined(withoutComments(code)).matchAll(ADVICE)].flatMap((match) => {
    const before = match.input.slice(Math.max(0, match.index - REACH), match.index);
    return /\bnever\b/i.test(before) ? [] : [`…${before}${match[0]}`];
  });

test('no text tells anybody to use another id', () => {
  const found = readSources(fileURLToPath(new URL('../..', import.meta.url)))
    .filter(({ path }) => path.startsWith('src/'))
    .flatMap(({ path, text }) =>
      adviceIn(text)
        .filter((words) => !ALLOWED.some(({ file, words: allowed }) => file === path && allowed.test(words)))
        .map((words) => `${path}: ${words}`),
    );
  expect(found).toEqual([]);
});

test('the search finds such advice, also broken over lines, and what says never is none', () => {
  const code = `
    // use a new id
    const a = 'refused: start it under a ' + 'new id';
    const b = \`otherwise use another order id\`;
    const c = 'never start it under another id';
  `;
  expect(adviceIn(code)).toEqual([
    expect.stringContaining('start it under a new id'),
    expect.stringContaining('otherwise use another order id'),
  ]);
});
