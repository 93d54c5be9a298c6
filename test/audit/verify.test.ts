import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AuditRecord, hashOf, lineOf, NO_LINE } from '../../src/audit/audit-record.js';
import { anchorsIn, type Verification } from '../../src/audit/verify.js';
import { newFolder } from '../support/batch-files.js';
import { runStarterAlone } from '../support/run-starter.js';

const folder = newFolder(afterAll);
let file: string;
let lines: string[];

beforeAll(async () => {
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

/** What the command says of a folder with these files, given anchors or none. */
async function verifiedFiles(files: Record<string, readonly string[]>, anchors?: readonly string[]) {
  const at = newFolder();
  for (const [name, lines] of Object.entries(files))
    await writeFile(join(at, `${name}.ndjson`), lines.map((line) => `${line}\n`).join(''));
  if (anchors)
    await writeFile(join(at, 'worker.log'), anchors.map((hash) => JSON.stringify({ auditHash: hash })).join('\n'));
  const options = anchors ? ['--anchors', join(at, 'worker.log')] : [];
  const { code, stdout } = await runStarterAlone(['audit', 'verify', at, '--json', ...options]);
  return { code, found: JSON.parse(stdout) as Verification & { ok: boolean } };
}

const verified = (changed: readonly string[], anchors?: readonly string[]) => verifiedFiles({ a: changed }, anchors);

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

/** A line that goes on from these, as somebody would write it who has nothing but the files. */
function following(before: readonly string[], entry: object, file = JSON.parse(before[0] ?? '').file): string {
  const prev = before.length > 0 ? hashOf(before.at(-1) ?? '') : NO_LINE;
  return lineOf({ v: 1, file, seq: before.length, at: new Date().toISOString(), prev }, entry);
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
    expect(told).toMatchObject({ code: 1, found: { ok: false } });
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
    expect(told.found.missing.length).toBeGreaterThan(0);
  });

  it('finds the cut end of a file by the one that goes on from it', async () => {
    const continues = { file: JSON.parse(lines[0] ?? '').file, hash: hashes().at(-1) };
    const b = [following([], { event: 'opened', continues }, 'next')];
    expect((await verifiedFiles({ a: lines, b })).code).toBe(0);
    const { code, found } = await verifiedFiles({ a: lines.slice(0, -2), b });
    expect(code).toBe(1);
    expect(found.problems).toEqual([expect.stringContaining('its end was cut or changed')]);
  });

  it('names every bad line and goes on behind it', async () => {
    const [first = '', ...others] = lines;
    const changed = [first, ...others.slice(0, 1), 'nonsense', ...others.slice(2, 3), '{"v":1,"file":"x","seq":4}'];
    const told = await verified([...changed, ...others.slice(3)], hashes());
    expect(told.found.files[0]?.problems).toEqual([
      'line 3 is none of an audit record',
      'line 4 does not follow from line 3: one of the two was changed',
      'line 5 is of another file',
      expect.stringMatching(/^line 6 /),
    ]);
    // Of the genuine lines behind the bad ones none is missing but the one that was replaced.
    expect(told.found.missing).toEqual([hashes()[2]]);
  });

  it('finds lines added to a file and whole files by the hashes of the log, whatever follows from what', async () => {
    const at = newFolder();
    const anchors: string[] = [];
    const record = await AuditRecord.open(at, ({ hash }) => anchors.push(hash));
    const entry = { event: 'send', account: 'default', workflowId: 'order:default:o', runId: 'r' } as const;
    await record.append({ ...entry, id: 'r/1' });
    const path = join(at, (await readdir(at))[0] ?? '');
    const genuine = (await readFile(path, 'utf8')).trimEnd().split('\n');
    await writeFile(path, [...genuine, following(genuine, { event: 'approve', by: 'Bob Jones' }), ''].join('\n'));
    await record.append({ ...entry, id: 'r/2' });
    const opened = following([], { event: 'opened' }, 'forged');
    const forged = [opened, following([opened], { event: 'decide', by: 'Ann Smith', keyId: 'f'.repeat(16) }, 'forged')];
    await writeFile(join(at, 'audit-forged.ndjson'), `${forged.join('\n')}\n`);
    const log = join(at, 'worker.log');
    await writeFile(log, anchors.map((hash) => JSON.stringify({ auditHash: hash })).join('\n'));

    const told = await runStarterAlone(['audit', 'verify', at, '--json', '--anchors', log]);
    expect(told.code).toBe(1);
    const found: Verification = JSON.parse(told.stdout);
    expect(found.missing).toEqual([]);
    const added = (name: RegExp) => found.files.filter((file) => name.test(file.path)).map(({ problems }) => problems);
    expect(added(/forged/)).toEqual([[expect.stringMatching(/^lines from 1 on: no anchor is of or behind them/)]]);
    const others = added(/audit-2/).flat();
    expect(others).toEqual([expect.stringMatching(/^lines from 3 on: no anchor is of or behind them/)]);
    expect(found.problems).toEqual([
      expect.stringMatching(/goes on from line 2 of file .*, behind which lines were added/),
    ]);

    // The forged file apart, the added line shows by the genuine file that goes on before it, without any log.
    const alone = await runStarterAlone(['audit', 'verify', at]);
    expect(alone.code).toBe(1);
    expect(alone.stdout).toContain('not shown without hashes kept elsewhere');
  });

  it('takes the last hash of a file, and of those that go on from it, for all lines before', async () => {
    expect((await verified(lines, hashes().slice(-1))).code).toBe(0);
    expect((await verified(lines, hashes().slice(0, -1))).code).toBe(1);
    const continues = { file: JSON.parse(lines[0] ?? '').file, hash: hashes().at(-1) };
    const next = following([], { event: 'opened', continues }, 'next');
    expect((await verifiedFiles({ a: lines, b: [next] }, [hashOf(next)])).code).toBe(0);
  });

  it.each([
    ['that was set back between every two files', [9, 8, 7, 6]],
    ['that was set back once and then ran on', [5, 9, 2, 3]],
    ['that stood still', [5, 5, 5, 5]],
  ])('follows files from one to the next under a clock %s', async (_, hours) => {
    const files: Record<string, string[]> = {};
    let before: { file: string; hash: string } | undefined;
    for (const [index, hour] of hours.entries()) {
      const file = `file-${index}`;
      const frame = { v: 1, file, at: `2026-01-01T0${hour}:00:00.000Z` } as const;
      const opened = lineOf(
        { ...frame, seq: 0, prev: NO_LINE },
        { event: 'opened', ...(before && { continues: before }) },
      );
      const sent = lineOf({ ...frame, seq: 1, prev: hashOf(opened) }, { event: 'send', id: `o-${index}` });
      before = { file, hash: hashOf(sent) };
      files[`${hour}-${index}`] = [opened, sent];
    }
    const anchors = [before?.hash ?? ''];
    expect((await verifiedFiles(files, anchors)).code).toBe(0);
    // A file that goes on from the record and that no anchor is of is still found.
    const added = [following([], { event: 'opened', continues: before }, 'added')];
    const { code, found } = await verifiedFiles({ ...files, added }, anchors);
    expect(code).toBe(1);
    expect(JSON.stringify(found)).toContain('lines from 1 on: no anchor');
  });

  it('ends where two files claim to go on from each other', async () => {
    const from = (file: string, other: string) =>
      following([], { event: 'opened', continues: { file: other, hash: NO_LINE } }, file);
    expect((await verifiedFiles({ a: [from('a', 'b')], b: [from('b', 'a')] }, [NO_LINE])).code).toBe(1);
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
