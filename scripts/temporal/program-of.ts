import { createRequire } from 'node:module';
import { basename } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

/** True in a checkout. The build makes one file of `scripts/dev.ts`, beside the other programs. */
export const IS_CHECKOUT = import.meta.url.endsWith('.ts');

/** Arguments of Node.js that run a program of ours, named by its source: that source, or what the build made of it. */
export function programOf(source: string): string[] {
  if (IS_CHECKOUT) {
    // `import.meta.resolve` does not work in the set-up of vitest.
    const tsx = pathToFileURL(createRequire(import.meta.url).resolve('tsx')).href;
    return ['--import', tsx, fileURLToPath(new URL(`../../${source}`, import.meta.url))];
  }
  const built = source === 'sandbox/main.ts' ? 'sandbox.js' : basename(source).replace(/ts$/, 'js');
  return [fileURLToPath(new URL(built, import.meta.url))];
}
