/** `npm run build`: the compiled package, its workflow bundles, commands and JSON Schemas, and the client package. */
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { execa } from 'execa';
import { ENCRYPTION_MODES } from '../src/bundle/bundle.js';
import { writeClientPackage } from './build/client-package.js';
import { STAMP, sourcesHash } from './build/sources-hash.mjs';
import { writeBundles } from './build/write-bundles.js';
import { writeCommands } from './build/write-commands.js';
import { writeSchemas } from './schemas/write-schemas.js';

const root = fileURLToPath(new URL('..', import.meta.url));
const dist = join(root, 'dist');

// Taken before anything is compiled: what is changed meanwhile must not pass for built.
const hash = sourcesHash(root);
// A file that is no longer in `src` must not stay in the package.
await rm(dist, { recursive: true, force: true });
const { exitCode } = await execa('tsc', ['-p', 'tsconfig.build.json'], {
  cwd: root,
  preferLocal: true,
  stdio: 'inherit',
  reject: false,
});
if (exitCode === 0) {
  await writeBundles(dist, ENCRYPTION_MODES, root);
  await writeCommands(root, dist);
  await writeClientPackage(root, dist, join(root, 'dist-client'));
  await writeSchemas(join(dist, 'schemas'));
  // The last thing: without it `npm run worker` takes the build for none.
  await writeFile(join(root, STAMP), hash);
}
process.exitCode = exitCode ?? 1;
