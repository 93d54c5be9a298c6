import { z } from 'zod';
import { eventKeyOf } from '../contract/event-signature.js';
import { EVENT_KINDS, type EventKind } from '../contract/events.js';
import { ACCOUNT_FORMAT, RECEIVER_FORMAT } from '../contract/names.js';
import { isPrivateAddress, literalAddressOf } from '../validation/private-addresses.js';
import type { Problems } from './env.js';
import { asciiProblem, checkedBy, isPredictable, TOO_EASY, unique } from './formats.js';
import { Secret } from './secret.js';
import { parseJson, readSettingsFile } from './secret-files.js';

/** A receiver of events. */
export interface ReceiverConfig {
  name: string;
  url: Secret;
  /** Each signs; the first is the newest. */
  secrets: readonly Secret[];
  /** Absent = all. */
  accounts?: readonly string[];
  kinds?: readonly EventKind[];
  /** Private addresses and plain http are allowed. */
  allowPrivate?: true;
}

const NAME = 'EVENTS_FILE';
const MIN_DIFFERENT_BYTES = 12;

const secretProblem = (secret: string): string | undefined => {
  const key = eventKeyOf(secret);
  if (!key) return 'must be whsec_ and the base64 of 24 to 64 bytes (openssl rand -base64 32)';
  return isPredictable(key, MIN_DIFFERENT_BYTES) ? TOO_EASY : undefined;
};

function urlProblem(text: string): string | undefined {
  if (/[^\x21-\x7e]|#/.test(text) || !URL.canParse(text))
    return asciiProblem(text) ?? 'must be a URL without a fragment';
  const { protocol, username, password } = new URL(text);
  if (username || password) return 'must not carry credentials';
  return /^https?:$/.test(protocol) ? undefined : 'must be an https URL';
}

function addressProblem({ url, allowPrivate }: { url: string; allowPrivate?: true }): string | undefined {
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  if (!parsed || allowPrivate) return undefined;
  const address = literalAddressOf(parsed);
  if (address && isPrivateAddress(address)) return 'names a private address, which needs "allowPrivate": true';
  return parsed.protocol === 'http:' ? 'must be https (plain http needs "allowPrivate": true)' : undefined;
}

const receiver = z
  .strictObject({
    name: z.string().regex(RECEIVER_FORMAT, 'must match [a-z0-9-]{1,32}'),
    url: checkedBy(urlProblem),
    secrets: z.array(checkedBy(secretProblem)).min(1).max(4).refine(unique, 'names a secret twice'),
    accounts: z.array(z.string().regex(ACCOUNT_FORMAT)).min(1).optional(),
    kinds: z.array(z.enum(EVENT_KINDS)).min(1).optional(),
    allowPrivate: z.literal(true).optional(),
  })
  .superRefine((entry, context) => {
    const message = addressProblem(entry);
    if (message) context.addIssue({ code: 'custom', path: ['url'], message });
  });

/** Each is a Temporal worker of its own. */
const MAX_RECEIVERS = 32;

const receiversFile = z
  .array(receiver)
  .min(1)
  .max(MAX_RECEIVERS, `must name at most ${MAX_RECEIVERS}`)
  .refine((entries) => unique(entries.map(({ name }) => name)), 'names a receiver twice');

/** Reads the event receivers by name. */
export function readReceivers(path: string, problems: Problems): ReadonlyMap<string, ReceiverConfig> | undefined {
  const text = readSettingsFile(path, problems, { variable: NAME });
  const content = parseJson(text, receiversFile, (reason) => problems.add(NAME, reason));
  const receivers = content?.map(({ url, secrets, ...plain }): ReceiverConfig => {
    return { ...plain, url: new Secret(url), secrets: secrets.map((secret) => new Secret(secret)) };
  });
  return receivers && new Map(receivers.map((entry) => [entry.name, entry]));
}
