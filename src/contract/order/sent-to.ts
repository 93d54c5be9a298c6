import type { Balances } from '../service-objects.js';

/** An order that the service confirmed. */
export interface Witness {
  order_id: string;
  order_uuid: string;
}

/** What a create was sent to: pinned with its order before the send. Everything later must show that it asks the same account. */
export interface SentTo {
  /** Origin and path of the base URL, without trailing slash. */
  endpoint: string;
  /** Of the account's wallets, sorted, at most MAX_PINNED_WALLETS; absent where the balances could not be read. */
  wallets?: string[];
  /** Keyed fingerprint of the API key: tells whether it is the same one, and nothing else about it. */
  key: string;
  /** The youngest order known to exist there at the send: what does not show it shows nothing about the order. */
  witness?: Witness;
}

/** Ids of wallets are the service's own: so many tell an account from every other, and more would only swell the histories. */
export const MAX_PINNED_WALLETS = 2;

/** All wallets that an account shows; undefined where it shows none, since every account would show all of none. */
export function walletsIn(balances: Balances): string[] | undefined {
  const wallets = Object.values(balances).flatMap(({ wallet_uuid: wallet }) => (wallet ? [wallet] : []));
  return wallets.length > 0 ? wallets : undefined;
}

/** The account asked is not shown to be the one that an order was sent to. */
export interface Elsewhere {
  /** What differs and what has to be set back; never a key. */
  why: string;
  /** Nothing contradicts that it is the same account: a person may say so. */
  confirmable: boolean;
  /** Where this worker asks and sends now. */
  here: SentTo;
}

/**
 * What speaks against `here` being the account that was sent to; undefined = it is shown to be the same one. Wallets prove
 * an account, whatever its key; where none were pinned, its key does. `shown`: all wallets that `here` shows now, undefined
 * where its balances could not be read. `account`: its name, for the words.
 */
export function elsewhere(
  sentTo: SentTo,
  here: SentTo,
  shown: readonly string[] | undefined,
  account: string,
): Elsewhere | undefined {
  const sameEndpoint = sentTo.endpoint === here.endpoint;
  const proof = proofOf(sentTo, here, shown);
  if (sameEndpoint && proof === 'same') return undefined;
  const other = `the order was sent to ${sentTo.endpoint}, but this worker asks ${here.endpoint}`;
  const say = (why: string, confirmable: boolean): Elsewhere => ({ why, confirmable, here });
  switch (proof) {
    case 'same':
      // A key alone may be good at two places that have nothing else in common.
      if (!sentTo.wallets?.length) return say(`${other}: set the base URL of account ${account} back`, false);
      return say(
        `${other}, which shows the same wallets: set the base URL of account ${account} back, or approve if it is the same account`,
        true,
      );
    case 'otherKey': {
      if (!sameEndpoint)
        return say(`${other}, with another key: set base URL and key of account ${account} back`, false);
      const unproven = `the order was sent with another API key of account ${account}, and nothing shows that both are of one account`;
      return say(`${unproven}: set the key back, or approve if they are`, true);
    }
    case 'unread': {
      const unread = `the wallets of account ${account}, which would show that it is the order's, cannot be read`;
      if (sameEndpoint) return say(`${unread} with its present key: set the key back`, false);
      return say(`${other}, and ${unread} there: set the base URL back`, false);
    }
    case 'missing': {
      const missing = 'wallets of the order are missing';
      if (!sameEndpoint) {
        return say(`${other}, where ${missing}: set base URL and key of account ${account} back`, false);
      }
      return say(`this key shows another account: ${missing}. Set the key of account ${account} back`, false);
    }
  }
}

type Proof = 'same' | 'otherKey' | 'unread' | 'missing';

function proofOf({ wallets = [], key }: SentTo, here: SentTo, shown: readonly string[] | undefined): Proof {
  if (wallets.length === 0) return key === here.key ? 'same' : 'otherKey';
  if (!shown) return 'unread';
  return wallets.every((wallet) => shown.includes(wallet)) ? 'same' : 'missing';
}
