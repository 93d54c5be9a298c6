import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Beside the sources: what else decides how they are compiled. */
const SETTINGS = ['package-lock.json', 'tsconfig.json', 'tsconfig.build.json'];

/** Where the hash of the sources stands that a build was made of. */
export const STAMP = join('dist', 'sources.sha256');

/** SHA-256 over what a build is made of. Times of files tell nothing: a checkout or an unpacked archive sets them as it likes. */
export function sourcesHash(root) {
  const entries = readdirSync(join(root, 'src'), { recursive: true, withFileTypes: true });
  const sources = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  const hash = createHash('sha256');
  for (const path of [...sources.sort(), ...SETTINGS.map((name) => join(root, name))]) {
    const content = readFileSync(path);
    hash.update(`${path.slice(root.length)}\0${content.length}\0`).update(content);
  }
  return hash.digest('hex');
}
