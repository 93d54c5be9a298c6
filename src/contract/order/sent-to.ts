export interface Witness {
  order_id: string;
  order_uuid: string;
}

/** Account of a create, pinned before the send. Later steps use the same account. */
export interface SentTo {
  /** Base URL and keyed fingerprint of the API key: `https://host/path#0123456789abcdef`. */
  account: string;
  /** The youngest order known to exist there at the send. Answers without it prove nothing. */
  witness?: Witness;
}

export interface UsedAccount {
  name: string;
  id: string;
  /** Fingerprints of earlier keys of the same account. */
  predecessors?: readonly string[];
}

/** The worker uses another account than the order's. */
export interface Elsewhere {
  /** Difference, its meaning for the money, and what to do. Never a key. */
  why: string;
  here: SentTo;
}

export const accountId = (endpoint: string, fingerprint: string): string => `${endpoint}#${fingerprint}`;
export const endpointOf = (account: string): string => account.slice(0, account.lastIndexOf('#'));
export const fingerprintOf = (account: string): string => account.slice(account.lastIndexOf('#') + 1);

/** Returns the ids of an account under its key and under earlier ones. */
export const idsOf = ({ id, predecessors = [] }: Omit<UsedAccount, 'name'>): string[] => [
  id,
  ...predecessors.map((fingerprint) => accountId(endpointOf(id), fingerprint)),
];

/** Returns true if the account in use is the pinned one or its successor by a key rotation. */
export const isSameAccount = (pin: SentTo, here: Omit<UsedAccount, 'name'>): boolean =>
  idsOf(here).includes(pin.account);

/** Returns the question to an operator if another account is in use. */
export function elsewhere(pin: SentTo, here: UsedAccount): Elsewhere | undefined {
  if (isSameAccount(pin, here)) return undefined;
  const [pinned, { id, name }] = [pin.account, here];
  const isSameUrl = endpointOf(pinned) === endpointOf(id);
  const rotated = isSameUrl ? `, list ${fingerprintOf(pinned)} as a predecessor if the key was rotated` : '';
  const differs = `the order was sent to ${pinned}, but this worker uses ${id}: nothing is sent until that is resolved`;
  const back = `Set base URL and key of account ${name} back${rotated}`;
  const means = `After an approval only ${id} is asked, and the order may be sent there: if it exists at the other one, it is paid twice`;
  return { why: `${differs}. ${back}. ${means}`, here: { account: id } };
}
