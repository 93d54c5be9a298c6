/**
 * `npm run version`: raises the version by the changes in `.changeset`, moves their texts into CHANGELOG.md and gives
 * `test/replay/histories/next` the version's name, and keeps the fields of what it writes. `--notes` prints what
 * CHANGELOG.md says of the present version.
 */
import { existsSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { execa } from 'execa';
import { entriesOf, notesOf, withVersion } from './changelog.js';
import { writeFields } from './replay/fields.js';
import { HISTORIES_FOLDER, NEXT } from './replay/files.js';

const FOLDER = '.changeset';
const LOG = 'CHANGELOG.md';
const version = (): string => JSON.parse(readFileSync('package.json', 'utf8')).version;

const waiting = readdirSync(FOLDER).filter((name) => name.endsWith('.md') && name !== 'README.md');
const entries = waiting.flatMap((name) => entriesOf(name, readFileSync(join(FOLDER, name), 'utf8')));

if (process.argv.includes('--notes')) {
  if (waiting.length > 0) throw new Error(`Not in ${LOG} yet: ${waiting.join(', ')}. Run npm run version`);
  process.stdout.write(notesOf(readFileSync(LOG, 'utf8'), version()));
} else if (entries.length === 0) {
  throw new Error(`No changes wait in ${FOLDER}: there is nothing to release`);
} else {
  await execa('changeset', ['version'], { preferLocal: true, stdio: 'inherit' });
  await execa('npm', ['install', '--package-lock-only', '--ignore-scripts'], { stdio: 'inherit' });
  const day = new Date().toISOString().slice(0, 10);
  writeFileSync(LOG, withVersion(readFileSync(LOG, 'utf8'), version(), day, entries));
  const next = join(HISTORIES_FOLDER, NEXT);
  if (existsSync(next)) renameSync(next, join(HISTORIES_FOLDER, version()));
  await writeFields(version());
}
