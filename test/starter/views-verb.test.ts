import { runInNewContext } from 'node:vm';
import { afterEach, expect, test, vi } from 'vitest';
import { ATTENTION_CODES } from '../../src/contract/attention.js';
import { listLink, pageLink } from '../../src/starter/ui-links.js';
import { runStarterAlone as starter } from '../support/run-starter.js';

afterEach(() => vi.unstubAllEnvs());

interface View {
  view: string;
  query: string;
  link?: string;
}

async function views(): Promise<{ views: View[]; script: string; columns: string[] }> {
  return JSON.parse((await starter(['views', '--json'])).stdout);
}

/** Runs the line that a person pastes into the console of a browser. */
function paste(script: string, stored: Record<string, string>): Record<string, string> {
  const localStorage = {
    getItem: (key: string) => stored[key] ?? null,
    setItem: (key: string, value: string) => {
      stored[key] = value;
    },
  };
  runInNewContext(script, { localStorage, location: { reload: () => undefined } });
  return stored;
}

test('each code of attention is in one view, and each name is one that the UI accepts', async () => {
  const { views: all } = await views();
  const codes = all.flatMap(({ query }) => query.match(/(?<=")[a-z-]+(?=[",)])/g) ?? []);
  for (const code of ATTENTION_CODES) expect(codes.filter((one) => one === code)).toEqual([code]);
  expect(all.length).toBeLessThanOrEqual(20);
  for (const { view } of all) expect(view).toMatch(/^[A-Za-z ]+$/);
});

test('the line adds the views beside those of the person, once, and sets the columns', async () => {
  const { views: all, script, columns } = await views();
  const own = { id: '1', name: 'Mine', query: '', type: 'user' };
  const stored = { 'saved-workflow-queries': JSON.stringify({ default: [own], other: [own] }) };
  const twice = paste(script, paste(script, stored));
  const saved = JSON.parse(twice['saved-workflow-queries'] ?? '');
  expect(saved.default.map(({ name }: { name: string }) => name)).toEqual(['Mine', ...all.map(({ view }) => view)]);
  expect(saved.other).toEqual([own]);
  const shown = JSON.parse(twice['namespace-workflow-table-columns'] ?? '').default;
  expect(shown.map(({ label }: { label: string }) => label)).toEqual(columns);
});

test('without TEMPORAL_UI_URL there are no links', async () => {
  vi.stubEnv('TEMPORAL_UI_URL', undefined);
  expect([pageLink('order:default:a'), listLink('x')]).toEqual([undefined, undefined]);
  expect((await starter(['views'])).stdout).not.toContain('http');
});

test('with it, links lead to the page of a workflow and to a list', async () => {
  vi.stubEnv('TEMPORAL_UI_URL', 'https://temporal.example/ui/');
  vi.stubEnv('TEMPORAL_NAMESPACE', 'pay.prod');
  const base = 'https://temporal.example/ui/namespaces/pay.prod/workflows';
  expect(pageLink('order:default:a/b')).toBe(`${base}/order%3Adefault%3Aa%2Fb`);
  expect(pageLink('order:default:a', 'r-1')).toBe(`${base}/order%3Adefault%3Aa/r-1/user-metadata`);
  const [first] = (await views()).views;
  const { searchParams } = new URL(first?.link ?? '');
  expect([searchParams.get('query'), searchParams.get('savedQuery')]).toEqual([first?.query, first?.view]);
});

test('a wrong address is named before anything is shown', async () => {
  vi.stubEnv('TEMPORAL_UI_URL', 'temporal.example');
  const { code, stderr } = await starter(['views']);
  expect(code).toBe(2);
  expect(stderr).toContain('TEMPORAL_UI_URL: must be the URL of the Temporal UI');
});
