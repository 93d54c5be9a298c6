import { availableParallelism, cpus, totalmem } from 'node:os';
import { ROOT } from '../chaos/product.js';
import { commitOf } from './product.js';

/** What figures depend on. */
export async function factsOf(temporal: string, seed: string): Promise<Record<string, string>> {
  const [cpu] = cpus();
  return {
    commit: await commitOf(ROOT),
    date: new Date().toISOString().slice(0, 10),
    machine: `${availableParallelism()} cores (${cpu?.model.trim() || 'unknown'}), ${Math.round(totalmem() / 2 ** 30)} GiB`,
    node: process.version,
    ...{ temporal, seed },
  };
}
