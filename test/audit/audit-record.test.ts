import { appendFile, mkdtemp, readdir, readFile, rename, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { execa } from 'execa';
import { afterAll, describe, expect, it, vi } from 'vitest';
import { type AuditEntry, AuditNotWrittenError, AuditRecord, type WrittenLine } from '../../src/audit/audit-record.js';
import { anchorsIn, type FileCheck, verifyAudit } from '../../src/audit/verify.js';
import { newFolder } from '../support/batch-files.js';

const root = newFolder(afterAll);

const entry = (id: string): AuditEntry => ({
  id,
  event: 'send',
  account: 'default',
  workflowId: `order:default:${id}`,
  runId: 'run-1',
});

const folder = () => mkdtemp(join(root, 'f-'));

/** A record, and the hashes that it told. */
async function opened(path: string) {
  const lines: WrittenLine[] = [];
  const record = await AuditRecord.open(path, (line) => lines.push(line));
  return { record, lines, hashes: () => lines.map(({ hash }) => hash) };
}

const filesIn = async (path: string) => (await readdir(path)).sort().map((name) => join(path, name));

describe('an audit record', () => {
  it('is one file for its process alone, in which every line follows from the one before', async () => {
    const path = await folder();
    const { record, lines, hashes } = await opened(path);
    await Promise.all(Array.from({ length: 200 }, (_, index) => record.append(entry(`o-${index}`))));
    const [file = '', ...others] = await filesIn(path);
    expect(others).toEqual([]);
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    const text = await readFile(file, 'utf8');
    expect(text).toBe(lines.map((line) => `${line.text}\n`).join(''));
    expect(
      text
        .split('\n')
        .slice(1, 201)
        .map((line) => JSON.parse(line).id),
    ).toEqual(Array.from({ length: 200 }, (_, index) => `o-${index}`));
    const { files, missing } = await verifyAudit([file], hashes());
    expect(files).toMatchObject([{ lines: 201, lastHash: hashes().at(-1), tornBytes: 0 }]);
    expect(files[0]?.problems).toEqual([]);
    expect(missing).toEqual([]);
  });

  it('writes nothing more into a file that was cut, moved away or added to, and says where it goes on from', async () => {
    for (const attack of [
      (file: string) => truncate(file, 300),
      (file: string) => rename(file, `${file}.old`),
      (file: string) => rm(file),
      (file: string) => appendFile(file, '{"v":1}\n'),
    ]) {
      const path = await folder();
      const { record } = await opened(path);
      for (const id of ['a', 'b', 'c']) await record.append(entry(id));
      const [before = ''] = await filesIn(path);
      const last = (await verifyAudit([before])).files[0];
      await attack(before);
      await record.append(entry('d'));
      const after = (await filesIn(path)).find((name) => name !== before && !name.endsWith('.old')) ?? '';
      const shown = (await verifyAudit([after])).files[0];
      expect(shown).toMatchObject({ lines: 2, continues: { file: last?.file, hash: last?.lastHash } });
    }
  });

  it('takes up a new file each day', async () => {
    const path = await folder();
    vi.useFakeTimers({ toFake: ['Date'], now: new Date('2026-03-01T23:59:59Z') });
    try {
      const { record } = await opened(path);
      await record.append(entry('a'));
      vi.setSystemTime(new Date('2026-03-02T00:00:01Z'));
      await record.append(entry('b'));
    } finally {
      vi.useRealTimers();
    }
    const found = await verifyAudit(await filesIn(path));
    expect(found.files.map(({ lines }) => lines)).toEqual([2, 2]);
    expect(found).toMatchObject({ problems: [], notGiven: [] });
  });

  it('tells that it cannot be written, and is written again once it can', async () => {
    const path = await folder();
    const { record, hashes } = await opened(path);
    await record.append(entry('a'));
    await rename(path, `${path}.gone`);
    await writeFile(path, '');
    const refused = await record.append(entry('b')).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(AuditNotWrittenError);
    expect(String(refused)).not.toContain(root);
    await rm(path);
    await rename(`${path}.gone`, path);
    await record.append(entry('c'));
    const found = await verifyAudit(await filesIn(path), hashes());
    expect(found).toMatchObject({ problems: [], missing: [] });
    const ids = (await Promise.all((await filesIn(path)).map((file) => readFile(file, 'utf8')))).join('');
    expect(ids).not.toContain('"id":"b"');
    expect(ids).toContain('"id":"c"');
  });

  it('gives up on a disk that does not answer in time', async () => {
    const path = await folder();
    const record = await AuditRecord.open(path, () => undefined, { limitMs: 1 });
    const results = await Promise.allSettled(
      Array.from({ length: 3_000 }, (_, index) => record.append(entry(`${index}`))),
    );
    const late = results.filter((result) => result.status === 'rejected');
    for (const { reason } of late) expect(reason).toMatchObject({ code: 'ETIMEDOUT' });
    expect(late.length).toBeGreaterThan(0);
    expect((await verifyAudit(await filesIn(path))).files[0]?.problems).toEqual([]);
  });
});

const FIXTURE = fileURLToPath(new URL('writer.fixture.ts', import.meta.url));

/** Writers in processes of their own, killed once they told so many lines, amid the next one; what each of them told. */
const killedWriters = (path: string, names: string[], lines: number, shell = '') =>
  Promise.all(
    names.map(async (name) => {
      const command = `${shell} exec "${process.execPath}" --import tsx "${FIXTURE}" "${path}" ${name}`;
      const writer = execa('bash', ['-c', command], { reject: false, killSignal: 'SIGKILL' });
      let told = 0;
      writer.stdout.on('data', (text) => {
        told += String(text).split('\n').length - 1;
        if (told >= lines) writer.kill('SIGKILL');
      });
      return (await writer).stdout;
    }),
  );

/** Problems that no kill makes. It may leave a file before its first line, and a last line whose hash is not told yet. */
const unexplained = ({ problems, lines }: FileCheck): string[] =>
  lines === 0 ? [] : problems.filter((problem) => !problem.startsWith(`lines from ${lines} on: no anchor`));

describe('audit records of several processes', () => {
  it('that share a folder and are killed in the middle lose no line they told', async () => {
    const path = await folder();
    const told = await killedWriters(path, ['a', 'b', 'c'], 30);
    const anchors = anchorsIn(told.join('\n'));
    expect(anchors.length).toBeGreaterThan(30);
    const files = await filesIn(path);
    expect(files).toHaveLength(3);
    const found = await verifyAudit(files, anchors);
    expect(found.missing).toEqual([]);
    expect(found.files.flatMap(unexplained)).toEqual([]);
  }, 60_000);

  it('go on in a new file when the system takes half of a line, and the half counts for nothing', async () => {
    const path = await folder();
    // The system cuts every file at 8 KiB, in the middle of a line, as a full disk does.
    const told = await killedWriters(path, ['a'], 100, 'ulimit -f 8;');
    const files = await filesIn(path);
    expect(files.length).toBeGreaterThan(2);
    const found = await verifyAudit(files, anchorsIn(told.join('\n')));
    expect(found.files.flatMap(unexplained)).toEqual([]);
    expect(found.files.some(({ tornBytes }) => tornBytes > 0)).toBe(true);
    expect(found).toMatchObject({ problems: [], missing: [], notGiven: [] });
  }, 60_000);
});
