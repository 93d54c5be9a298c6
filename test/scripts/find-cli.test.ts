import { chmod, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { findTemporalCli, parseServerVersion } from '../../scripts/temporal/find-cli.js';
import { FLOOR } from '../../src/preflight/advisories.js';

/** A machine of its own: nothing on PATH (so no download either), an empty cache. */
let machine: string;
let lines: string[];
const log = (line: string): void => void lines.push(line);
const builtCli = (server = '1.32.0'): string =>
  join(machine, 'payment-orders', `temporal-cli-v1.5.1-server-${server}`, 'temporal');

beforeEach(async () => {
  machine = await mkdtemp(join(tmpdir(), 'payment-orders-test-'));
  lines = [];
  vi.stubEnv('PATH', machine);
  vi.stubEnv('TMPDIR', machine);
  vi.stubEnv('XDG_CACHE_HOME', machine);
});

afterEach(async () => {
  vi.unstubAllEnvs();
  await rm(machine, { recursive: true, force: true });
});

async function command(name: string, script: string): Promise<void> {
  await writeFile(join(machine, name), `#!/bin/sh\n${script}\n`);
  await chmod(join(machine, name), 0o755);
}

/** Stands for Go: hands out sources of the tool, and writes the file that a build is to make. */
const workingGo = `[ "$1" = version ] && exit
sources="${'$'}{0}.sources"
if [ "$2" = download ]; then
  /bin/mkdir -p "$sources/temporalcli/devserver"
  printf '\\t"go.temporal.io/server/components/callbacks"\\n\\tdynConf[callbacks.AllowedAddresses.Key()] = x{\\n\\t}\\ndynamicconfig.Key(k)' > "$sources/temporalcli/devserver/server.go"
  echo 'info.GetProcessKey()' > "$sources/temporalcli/commands.worker.go"
  echo "{\\"Dir\\": \\"$sources\\"}"
  exit
fi
echo "$@" >> "${'$'}{0}.calls"
[ "$1" = build ] || exit 0
/bin/sleep 1
/bin/cat "$3/temporalcli/devserver/server.go" "$3/temporalcli/commands.worker.go" > "$6"`;

test('a new enough temporal on PATH is used as it is', async () => {
  await command('temporal', 'echo "temporal version 1.5.1 (Server 1.30.4, UI 2.42.1)"');
  expect(await findTemporalCli(log)).toBe('temporal');
  expect(lines).toEqual([]);
});

test('a temporal on PATH that is too old is named and passed over', async () => {
  await command('temporal', 'echo "temporal version 1.1.0 (Server 1.25.0, UI 2.30.0)"');
  await expect(findTemporalCli(log)).rejects.toThrow();
  expect(lines[0]).toContain('1.25.0');
});

test('without a temporal, a download and Go there is one error that says what to do', async () => {
  await expect(findTemporalCli(log)).rejects.toThrow(/Install the Temporal CLI.*or Go.*TEMPORAL_ADDRESS/);
});

test('without a download the tool is built with Go, once for two that ask at the same time, then kept', async () => {
  await command('go', workingGo);
  const both = await Promise.all([findTemporalCli(log), findTemporalCli(log)]);
  expect(both).toEqual([builtCli(), builtCli()]);
  expect(await findTemporalCli(log)).toBe(builtCli());
  expect(await readFile(builtCli(), 'utf8')).toBe('dynamicconfig.MakeKey(k)info.GetProcessId()\n');
  expect(await readFile(join(machine, 'go.calls'), 'utf8')).toMatch(
    /^mod edit -require=go\.temporal\.io\/server@v1\.32\.0 \S+go\.mod\nbuild -C \S+ -mod=mod -o \S+ \.\/cmd\/temporal\n$/,
  );
  expect(lines.join('\n')).toMatch(/Building .*5 to 10 minutes/);
  expect(await readdir(join(machine, 'payment-orders'))).toEqual(['temporal-cli-v1.5.1-server-1.32.0']);
});

test('the floor is built with its own changes, whatever newer one is on PATH', async () => {
  vi.stubEnv('TEMPORAL_SERVER', 'floor');
  await command('temporal', 'echo "temporal version 1.9.1 (Server 1.32.0, UI 2.42.1)"');
  await command('go', workingGo);
  expect(await findTemporalCli(log)).toBe(builtCli(FLOOR));
  expect(await readFile(join(machine, 'go.calls'), 'utf8')).toContain(`go.temporal.io/server@v${FLOOR} `);
  const built = await readFile(builtCli(FLOOR), 'utf8');
  expect(built).toContain('callbacks.AllowedAddresses');
  expect(built).toContain('dynamicconfig.MakeKey(k)info.GetProcessId()');
});

test('a build that fails shows its output and leaves nothing half', async () => {
  await command('go', '[ "$1" = version ] && exit\necho half > "$GOBIN/temporal"\necho "no space left" >&2\nexit 1');
  await expect(findTemporalCli(log)).rejects.toThrow('no space left');
  expect(await readdir(join(machine, 'payment-orders'))).toEqual([]);
});

test('what an interrupted build left, lock included, does not stop the next one', async () => {
  await command('go', 'exit 1');
  await expect(findTemporalCli(log)).rejects.toThrow();
  const folder = join(machine, 'payment-orders');
  // No process has an id above the kernel's limit of 2^22.
  await writeFile(join(folder, 'temporal-cli-v1.5.1-server-1.32.0.lock'), '4194305');
  await writeFile(join(folder, 'temporal-cli-v1.5.1-server-1.32.0.partial-4194305'), '');
  await command('go', workingGo);
  expect(await findTemporalCli(log)).toBe(builtCli());
  expect(await readdir(folder)).toEqual(['temporal-cli-v1.5.1-server-1.32.0']);
});

test.each([
  ['temporal version 0.0.0-DEV (Server 1.29.1, UI 2.42.1)', '1.29.1'],
  ['temporal version 1.5.1 (Server 1.30.0-148.4, UI 2.42.1)', '1.30.0'],
  ['something else', undefined],
])('server version of %j is %s', (text, version) => {
  expect(parseServerVersion(text)).toBe(version);
});
