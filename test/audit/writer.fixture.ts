import { AuditRecord } from '../../src/audit/audit-record.js';

/** Writes entries into the folder it is given until it is killed, and prints the hash of each line that is on the disk. */
const [folder = '', name = 'a'] = process.argv.slice(2);
const record = await AuditRecord.open(folder, ({ hash }) => process.stdout.write(`${hash}\n`));
for (let count = 0; ; count += 1) {
  const entry = { event: 'send', account: 'default', workflowId: `order:default:${name}`, runId: 'r' } as const;
  await record.append({ ...entry, id: `${name}/${count}`, filling: 'x'.repeat(200) });
}
