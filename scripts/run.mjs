/**
 * Runs a program of ours, `node scripts/run.mjs worker`: the built one where it is there and made of exactly these sources, which
 * starts three times as fast, and the sources themselves otherwise.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { STAMP, sourcesHash } from './build/sources-hash.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const name = process.argv[2] ?? '';
// Whoever looks at the arguments sees a program that was started by itself, under the name of its source.
process.argv.splice(1, 2, join(root, 'src', `${name}.ts`));

function builtOf() {
  try {
    return readFileSync(join(root, STAMP), 'utf8');
  } catch {
    return undefined;
  }
}

const built = builtOf();
const isCurrent = built !== undefined && built === sourcesHash(root);
if (built !== undefined && !isCurrent) {
  process.stderr.write('dist is not made of these sources, so the sources are run: npm run build makes it anew\n');
}
if (!isCurrent) await import('tsx');
await import(pathToFileURL(isCurrent ? join(root, 'dist', `${name}.js`) : join(root, 'src', `${name}.ts`)).href);
