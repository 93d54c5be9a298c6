import { createHash } from 'node:crypto';

/** What an audit record tells of: a create that is about to be written to the service, or what a person asked for. */
export type AuditEvent = 'send' | 'decide' | 'approve' | 'resume' | 'pause' | 'stop';

/** One entry, before it has a place in a file. Every text in it is masked by who makes it. */
export interface AuditEntry {
  /** Stays the same when the server repeats what wrote it: entries with one id are one and the same. */
  id: string;
  event: AuditEvent;
  account: string;
  workflowId: string;
  runId: string;
  [fact: string]: unknown;
}

/** Names the file that the same worker wrote before this one, and the hash of its last good line. */
export interface Continues {
  file: string;
  hash: string;
}

/** What every line has besides its entry. `prev`: hash of the line before; `at`: ISO time. */
export interface LineFrame {
  v: 1;
  file: string;
  seq: number;
  at: string;
  prev: string;
}

/** `prev` of the first line of a file. */
export const NO_LINE = '0'.repeat(64);

/** SHA-256 in hex over the bytes of a line, without its line break. */
export const hashOf = (line: string | Uint8Array): string => createHash('sha256').update(line).digest('hex');

/** The text of a line, which has no line break in it. No field of an entry takes the place of the frame's. */
export const lineOf = (frame: LineFrame, entry: object): string => JSON.stringify({ ...frame, ...entry, ...frame });
