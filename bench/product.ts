import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type * as TemporalClient from '@temporalio/client';
import { execa } from 'execa';
import { buildProduct, ROOT } from '../chaos/product.js';
import { bundleFile } from '../src/bundle/bundle.js';
import type * as Library from '../src/index.js';

/** A build of the product. */
export interface Product {
  /** `ours`, or the commit of another checkout. */
  name: string;
  /** Its compiled files. */
  dist: string;
  /** The checkout that they are of. */
  root: string;
}

/** A library, and the copy of the SDK that it wants its client from. */
export interface LoadedLibrary {
  library: typeof Library;
  temporal: typeof TemporalClient;
}

/** Compiles the product as it stands. */
export async function compileOwn(): Promise<Product> {
  const dist = join(ROOT, 'node_modules', '.cache', 'bench');
  await buildProduct(dist, ['off', 'required']);
  return { name: 'ours', dist, root: ROOT };
}

/** The product of another checkout, in which `npm run build` was run; throws when it was not. */
export async function otherProduct(root: string): Promise<Product> {
  const dist = join(root, 'dist');
  if (!existsSync(join(dist, bundleFile('off')))) throw new Error(`${root} is not built: run npm run build there`);
  return { name: await commitOf(root), dist, root };
}

/** The short commit that a checkout stands at, with a + where files were changed. */
export async function commitOf(root: string): Promise<string> {
  const git = async (...args: string[]) => (await execa('git', ['-C', root, ...args], { reject: false })).stdout;
  const changed = await git('status', '--porcelain', '--untracked-files=no');
  return `${(await git('rev-parse', '--short', 'HEAD')) || 'unknown'}${changed ? '+' : ''}`;
}

/** Loads what a backend of that build would import. */
export async function loadLibrary({ dist }: Product): Promise<LoadedLibrary> {
  const file = join(dist, 'index.js');
  const library = (await import(pathToFileURL(file).href)) as typeof Library;
  return { library, temporal: createRequire(file)('@temporalio/client') as typeof TemporalClient };
}
