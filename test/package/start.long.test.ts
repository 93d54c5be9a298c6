import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { execa } from 'execa';
import { beforeAll, expect, test } from 'vitest';
import { run } from '../support/command.js';
import { installed, type Packed, packedPackages } from '../support/packed.js';

const PAGE = fileURLToPath(new URL('../../docs/start.md', import.meta.url));

let packed: Packed;
beforeAll(async () => {
  packed = await packedPackages();
}, 600_000);

test('the lines of docs/start.md pay in a fresh folder: ES modules, CommonJS, Jest, curl, Python and Go', async () => {
  const folder = await installed([packed.main, packed.client]);
  const page = await readFile(PAGE, 'utf8');
  const files = [...page.matchAll(/^```\w+ (pay\.\S+)\n([\s\S]*?)^```$/gm)];
  for (const [, name = '', text = ''] of files) await writeFile(join(folder, name), text);
  expect(files.map(([, name]) => name)).toEqual(['pay.mjs', 'pay.cjs', 'pay.test.js', 'pay.sh', 'pay.py', 'pay.go']);

  const dev = await run(folder, 'payment-orders-dev');
  const { api: API = '', temporal: TEMPORAL_ADDRESS = '', namespace: TEMPORAL_NAMESPACE = '' } = dev.ready;
  const env = { API, TEMPORAL_ADDRESS, TEMPORAL_NAMESPACE };
  const output = async (command: string): Promise<string> => {
    const { all } = await execa('bash', ['-c', command], { cwd: folder, env, all: true, reject: false });
    return all;
  };
  /** Runs a program and prints how long it took. Its exit code is not compared: the Python SDK may crash at exit. */
  const paid = async (name: string, command: string, said = 'completed'): Promise<void> => {
    const fromMs = performance.now();
    expect(await output(command)).toContain(said);
    process.stdout.write(`${name}: ${((performance.now() - fromMs) / 1_000).toFixed(1)} s\n`);
  };
  await paid('ES modules', 'node pay.mjs');
  await paid('CommonJS', 'node pay.cjs');
  await paid('curl', 'bash pay.sh', '"outcome":"completed"');
  await output('npm install --no-audit --no-fund jest@30');
  await paid('Jest', 'npx jest', '1 passed');
  await output('python3 -m venv venv && venv/bin/pip install --quiet temporalio');
  await paid('Python', 'venv/bin/python pay.py');
  await paid(
    'Go, with its modules',
    'mkdir go && cd go && mv ../pay.go . && go mod init pay && go mod tidy && go run pay.go',
  );

  for (const name of ['pay.mjs', 'pay.cjs', 'pay.sh', 'pay.py', 'go/pay.go']) {
    const text = await readFile(join(folder, name), 'utf8');
    await writeFile(join(folder, name), text.replace('12.50', '13.50'));
  }
  expect(await output('node pay.mjs')).toMatch(/ConflictError: .* a different amount/);
  expect(await output('node pay.cjs')).toMatch(/ConflictError: .* a different amount/);
  expect(await output('bash pay.sh')).toMatch(/"code":"conflict".*amount/);
  // Both orders have ended.
  expect(await output('venv/bin/python pay.py')).toMatch(/conflict: .*order\.amount/);
  expect(await output('cd go && go run pay.go')).toMatch(/conflict: .*order\.amount/);
  const { stdout } = await execa('du', ['-sm', 'node_modules'], { cwd: folder });
  process.stdout.write(`node_modules: ${stdout.split('\t')[0]} MiB with the worker and Jest\n`);
  expect(await dev.interrupt()).toEqual([]);
}, 1_200_000);
