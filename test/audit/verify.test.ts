import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AuditRecord } from '../../src/audit/audit-record.js';
import { hashOf } from '../../src/audit/line.js';
import { anchorsIn } from '../../src/audit/verify.js';
import { runStarterAlone } from '../support/run-starter.js';

let folder: string;
let file: string;
let lines: string[];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'audit-verify-'));
  const record = await AuditRecord.open(folder, () => undefined);
  for (const [index, amount] of ['500', '20', '7', '9'].entries()) {
    const id = `o-${index}`;
    await record.append({
      id,
      event: 'send',
      account: 'default',
      workflowId: `order:default:${id}`,
      runId: 'r',
      amount,
    });
  }
  file = join(folder, (await readdir(folder))[0] ?? '');
  lines = (await readFile(file, 'utf8')).trimEnd().split('\n');
});

afterAll(() => rm(folder, { recursive: true, force: true }));

/** What the command says of a record with these lines, given the anchors of the real one or none. */
async function verified(changed: readonly string[], anchors?: readonly string[]) {
  const at = await mkdtemp(join(tmpdir(), 'audit-changed-'));
  try {
    await writeFile(join(at, 'audit.ndjson'), changed.map((line) => `${line}\n`).join(''));
    if (anchors)
      await writeFile(join(at, 'worker.log'), anchors.map((hash) => JSON.stringify({ auditHash: hash })).join('\n'));
    const options = anchors ? ['--anchors', join(at, 'worker.log')] : [];
    return await runStarterAlone(['audit', 'verify', at, '--json', ...options]);
  } finally {
    await rm(at, { recursive: true, force: true });
  }
}

const hashes = () => lines.map(hashOf);

/** The lines with every `seq` and `prev` made right, as somebody would who may write the file. */
function rewritten(changed: readonly string[]): string[] {
  let prev = '0'.repeat(64);
  return changed.map((line, seq) => {
    const text = JSON.stringify({ ...JSON.parse(line), seq, prev });
    prev = hashOf(text);
    return text;
  });
}

describe('payment-orders audit verify', () => {
  it('says nothing against an untouched record, and prints its last hash', async () => {
    const told = await runStarterAlone(['audit', 'verify', file]);
    expect(told.code).toBe(0);
    expect(told.stdout).toContain(`5 lines, last ${hashes().at(-1)}`);
    expect(told.stdout).toContain('nothing contradicts the record');
    expect((await verified(lines, hashes())).code).toBe(0);
  });

  const attacks: Record<string, (all: string[]) => string[]> = {
    'a changed amount': (all) => all.map((line) => line.replace('"500"', '"900"')),
    'a changed time': (all) => all.map((line, index) => (index === 2 ? line.replace(/"at":"2/, '"at":"1') : line)),
    'a blank': (all) => all.map((line, index) => (index === 2 ? line.replace(',', ', ') : line)),
    'a carriage return': (all) => all.map((line, index) => (index === 2 ? `${line}\r` : line)),
    'a removed line': (all) => all.toSpliced(2, 1),
    'a removed first line': (all) => all.slice(1),
    'a line twice': (all) => all.toSpliced(2, 0, all[2] ?? ''),
    'an empty line': (all) => all.toSpliced(2, 0, ''),
    'two lines in another order': (all) => all.toSpliced(2, 2, all[3] ?? '', all[2] ?? ''),
    'a line of a file of somebody else': (all) => [...all, '{"v":1,"file":"x","seq":5}'],
    'what is no record': () => ['{}'],
    nothing: () => [],
  };
  it.each(Object.keys(attacks))('finds %s', async (name) => {
    const told = await verified(attacks[name]?.([...lines]) ?? []);
    expect(told.code).toBe(1);
    expect(JSON.parse(told.stdout)).toMatchObject({ ok: false });
  });

  const hidden: Record<string, (all: string[]) => string[]> = {
    'a cut end': (all) => all.slice(0, -1),
    'a changed last line': (all) => all.with(-1, (all.at(-1) ?? '').replace('"9"', '"8"')),
    'a record written anew': (all) => rewritten(all.map((line) => line.replace('"500"', '"900"'))),
    'a line added and the rest written anew': (all) => rewritten(all.toSpliced(2, 0, all[1] ?? '')),
  };
  it.each(Object.keys(hidden))('finds %s by the hashes of the log, and says that it takes them', async (name) => {
    const changed = hidden[name]?.([...lines]) ?? [];
    const alone = await verified(changed);
    expect(alone.code).toBe(0);
    const told = await verified(changed, hashes());
    expect(told.code).toBe(1);
    expect(JSON.parse(told.stdout).missing.length).toBeGreaterThan(0);
  });

  it('finds the cut end of a file by the one that goes on from it', async () => {
    const next = JSON.stringify({
      ...{ v: 1, file: 'next', seq: 0, at: '2026-01-01T00:00:00.000Z', prev: '0'.repeat(64), event: 'opened' },
      continues: { file: JSON.parse(lines[0] ?? '').file, hash: hashes().at(-1) },
    });
    const at = await mkdtemp(join(tmpdir(), 'audit-next-'));
    await writeFile(join(at, 'b.ndjson'), `${next}\n`);
    await writeFile(join(at, 'a.ndjson'), lines.map((line) => `${line}\n`).join(''));
    expect((await runStarterAlone(['audit', 'verify', at])).code).toBe(0);
    await writeFile(
      join(at, 'a.ndjson'),
      lines
        .slice(0, -2)
        .map((line) => `${line}\n`)
        .join(''),
    );
    const told = await runStarterAlone(['audit', 'verify', at]);
    expect(told.code).toBe(1);
    expect(told.stdout).toContain('its end was cut or changed');
    await rm(at, { recursive: true });
  });

  it('tells a line that was never finished, which a killed worker leaves', async () => {
    const torn = join(folder, 'torn.txt');
    await writeFile(torn, `${lines.join('\n')}\n{"v":1,"fi`);
    const told = await runStarterAlone(['audit', 'verify', torn]);
    expect(told).toMatchObject({ code: 0 });
    expect(told.stdout).toContain('10 bytes of a line that was never finished');
  });

  it('takes bad usage for what it is', async () => {
    for (const args of [
      [],
      [join(folder, 'none')],
      [file, '--anchors', join(folder, 'none')],
      [file, '--anchors', file],
    ]) {
      expect(await runStarterAlone(['audit', 'verify', ...args])).toMatchObject({ code: 2 });
    }
  });

  it('reads hashes as workers log them, and as lines of their own', () => {
    const [a, b, c] = ['a', 'b', 'c'].map((digit) => digit.repeat(64));
    expect(anchorsIn(`{"auditHash":"${a}"}\n${b}\n{"digest":"${c}"}\n{"auditHash":"${a}"}`)).toEqual([a, b]);
  });
});
