import { readdir, readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { entriesOf, notesOf, withVersion } from '../../scripts/changelog.js';

const root = new URL('../../', import.meta.url);
const read = (path: string): Promise<string> => readFile(new URL(path, root), 'utf8');
const change = (text: string): string => `---\n"payment-orders": minor\n---\n\n${text}\n`;

test('every change that waits names this package, and its lines have a group', async () => {
  const { name } = JSON.parse(await read('package.json'));
  const files = (await readdir(new URL('.changeset/', root))).filter((file) => file.endsWith('.md'));
  for (const file of files.filter((one) => one !== 'README.md')) {
    const text = await read(`.changeset/${file}`);
    expect(text, file).toMatch(new RegExp(`^---\\n["']${name}["']: (major|minor|patch)\\n---\\n`));
    expect(entriesOf(file, text).length, file).toBeGreaterThan(0);
  }
});

test('the changelog says of this version what it is, on a day, within 1,500 words', async () => {
  const log = await read('CHANGELOG.md');
  const { version } = JSON.parse(await read('package.json'));
  expect(log).toMatch(new RegExp(`^## \\[${version.replaceAll('.', '\\.')}\\] - \\d{4}-\\d\\d-\\d\\d$`, 'm'));
  expect(notesOf(log, version)).toContain('### ');
  expect(notesOf(log, '0.1.0').split(/\s+/).length).toBeLessThanOrEqual(1_500);
  expect(() => notesOf(log, '0.0.9')).toThrow('says nothing of 0.0.9');
});

test('a release groups its changes before the versions before it', () => {
  const entries = [
    ...entriesOf('a.md', change('Fixed: a sum was rounded.\n\nAdded: `--as-of`.')),
    ...entriesOf('b.md', change('- Added: a page.')),
  ];
  const log = '# Changelog\n\nAbout.\n\n## [0.1.0] - 2026-11-27\n\nFirst.\n';
  const next = withVersion(log, '0.2.0', '2026-12-24', entries);
  expect(next).toBe(
    '# Changelog\n\nAbout.\n\n## [0.2.0] - 2026-12-24\n\n### Added\n\n- `--as-of`.\n- a page.\n\n' +
      '### Fixed\n\n- a sum was rounded.\n\n## [0.1.0] - 2026-11-27\n\nFirst.\n',
  );
  expect(notesOf(next, '0.2.0')).toBe('### Added\n\n- `--as-of`.\n- a page.\n\n### Fixed\n\n- a sum was rounded.\n');
  expect(notesOf(next, '0.1.0')).toBe('First.\n');
});

test.each([
  ['no group', change('a sum was rounded'), 'begin the line with Added'],
  ['a group that does not exist', change('Improved: a sum'), 'begin the line with Added'],
  ['no text', change(''), 'no text for users'],
  ['no head', 'Added: a page.', 'no text for users'],
])('a change with %s is refused by its name', (_, text, reason) => {
  expect(() => entriesOf('brave-cats-pay.md', text)).toThrow(reason);
  expect(() => entriesOf('brave-cats-pay.md', text)).toThrow('brave-cats-pay.md');
});
