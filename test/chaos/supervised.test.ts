import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { Supervised } from '../../chaos/supervised.js';

/** A program that says ready with its pid and stays; ends by itself at its first start when told to. */
const SCRIPT = `
import { existsSync, writeFileSync } from 'node:fs';
if (process.env.FAIL_ONCE && !existsSync(process.env.FAIL_ONCE)) {
  writeFileSync(process.env.FAIL_ONCE, '');
  process.exit(1);
}
console.error('starting');
console.log('ready ' + process.pid);
setInterval(() => {}, 1000);
`;

async function supervise(env: Record<string, string> = {}) {
  const folder = await mkdtemp(join(tmpdir(), 'chaos-'));
  const script = join(folder, 'program.mjs');
  const logFile = join(folder, 'log');
  await writeFile(script, SCRIPT);
  const starts: number[] = [];
  const process = new Supervised({
    ...{ name: 'program', args: [script], env, cwd: folder, logFile },
    onReady: async () => void starts.push(starts.length),
  });
  onTestFinished(async () => {
    await process.stop();
    await rm(folder, { recursive: true, force: true });
  });
  const pids = async () => [...(await readFile(logFile, 'utf8')).matchAll(/^ready (\d+)$/gm)].map((match) => match[1]);
  return { process, folder, pids, starts };
}

const isAlive = (pid: string | undefined): boolean => {
  try {
    return process.kill(Number(pid), 0);
  } catch {
    return false;
  }
};

test('a killed process is started again, prints into the same log and becomes ready again', async () => {
  const { process, pids, starts } = await supervise();
  await process.whenReady();
  process.kill();
  await process.whenReady();
  const [first, second] = await pids();
  expect([isAlive(first), isAlive(second)]).toEqual([false, true]);
  expect(starts).toEqual([0, 1]);
  expect(process).toMatchObject({ kills: 1, crashes: 0 });
  await process.stop();
  expect(isAlive(second)).toBe(false);
  expect(await pids()).toHaveLength(2);
});

test('a process that ends by itself is started again and counted apart from kills', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'chaos-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const { process } = await supervise({ FAIL_ONCE: join(folder, 'failed') });
  await process.whenReady();
  expect(process).toMatchObject({ kills: 0, crashes: 1 });
});
