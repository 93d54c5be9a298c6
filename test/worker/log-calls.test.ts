import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { readSources } from '../../scripts/import-directions.js';
import { shownFields } from '../../src/worker/log.js';

/** Parts whose lines go through the worker's logger; the other processes write what they are given. */
const sources = readSources(fileURLToPath(new URL('../..', import.meta.url))).filter(({ path }) =>
  /^src\/(?:worker|activities|workflows|preflight)\//.test(path),
);

const CALL = /\blog(?:ger)?\??\.(?:debug|info|warn|error)\(/g;

/** Text from a bracket to the one that closes it, without both. */
function inside(text: string, open: number): string {
  let depth = 0;
  for (let at = open; at < text.length; at += 1) {
    if ('([{'.includes(text[at] ?? '')) depth += 1;
    if (')]}'.includes(text[at] ?? '')) depth -= 1;
    if (depth === 0) return text.slice(open + 1, at);
  }
  throw new Error(`not closed: ${text.slice(open, open + 80)}`);
}

/** Parts of a text between its own commas, which stand in no bracket. */
function parts(text: string): string[] {
  const found = [''];
  let depth = 0;
  for (const one of text) {
    if ('([{'.includes(one)) depth += 1;
    if (')]}'.includes(one)) depth -= 1;
    if (one === ',' && depth === 0) found.push('');
    else found[found.length - 1] += one;
  }
  return found.map((part) => part.trim()).filter((part) => part !== '');
}

/** Fields of the log calls in a text, each with a value like the one that the call gives. */
function fieldsIn(text: string): Record<string, unknown>[] {
  return [...text.matchAll(CALL)].flatMap(({ 0: call, index }) => {
    const about = parts(inside(text, index + call.length - 1)).find((part) => part.startsWith('{'));
    return parts(about ? inside(about, 0) : '').map((part) => {
      const [name = '', value = name] = part.split(/:(.*)/s);
      const isError = name === 'error' && /^\s*\w+\s*$/.test(value);
      return { [name]: isError ? new Error('a fact') : 'a fact' };
    });
  });
}

test('each field of each literal log call is shown', () => {
  const all = sources.flatMap(({ path, text }) => fieldsIn(text).map((field) => ({ path, field })));
  expect(all.length).toBeGreaterThan(15);
  const dropped = all.filter(({ field }) => Object.keys(shownFields(field)).length === 0);
  expect(dropped.map(({ path, field }) => `${path}: ${Object.keys(field)}`)).toEqual([]);
});

test('the search sees a dropped field, and an error that was made a text', () => {
  const found = fieldsIn(
    'log.warn("a (line)", { made: f(a, b), error: String(error) });\nlogger.info(`x`, { error });',
  );
  expect(found.map((field) => Object.keys(shownFields(field)))).toEqual([[], [], ['error']]);
});
