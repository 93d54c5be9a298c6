import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { execa } from 'execa';

const RULES = resolve('deploy/monitoring/alerts.yml');

/** Whether promtool is installed; a line that nobody overlooks where it is not. */
export async function hasPromtool(): Promise<boolean> {
  const { failed } = await execa('promtool', ['--version'], { reject: false });
  if (failed) process.stderr.write('Alert rules: NOT ASKED, promtool is not installed (apt-get install prometheus)\n');
  return !failed;
}

/** Runs the rules over one test as promtool has it; answers its words where something is otherwise than expected. */
export async function runRules(test: object): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'payment-orders-rules-'));
  try {
    // YAML takes JSON.
    const whole = { rule_files: [RULES], evaluation_interval: '1m', tests: [test] };
    await writeFile(join(folder, 'test.yml'), JSON.stringify(whole));
    const { failed, all } = await execa('promtool', ['test', 'rules', join(folder, 'test.yml')], {
      reject: false,
      all: true,
    });
    return failed ? all : '';
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
