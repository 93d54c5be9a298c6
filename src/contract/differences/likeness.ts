import { jsonOr } from '../json.js';
import { decimal, decimalPlaces, SIGNED_AMOUNT_FORMAT, sameAmount } from '../money.js';
import { PART_FIELDS } from '../order/request.js';
import { canonicalWallet, writtenLike } from '../wallets.js';
import { isFormOfName } from './name-forms.js';

/** Compares two values that are no objects. `key`: their field. */
type SameLeaf = (a: unknown, b: unknown, key: string) => boolean;

/** Returns true for an object or list. */
export const isTree = (value: unknown): value is object => typeof value === 'object' && value !== null;

/** Returns true for absent, null and ''. */
export const isBlank = (value: unknown): boolean => value === undefined || value === null || value === '';

/** Returns true for blank values and containers that hold nothing else. */
export const isEmpty = (value: unknown): boolean =>
  isBlank(value) || (isTree(value) && Object.values(value).every(isBlank));

/** Returns an own field of an object or list; undefined without one. */
export const child = (tree: object, key: string): unknown =>
  Object.hasOwn(tree, key) ? (tree as Record<string, unknown>)[key] : undefined;

/** Returns the paths at which two values differ, without recursion limits of their depth. */
export function differences(a: unknown, b: unknown, path: string, sameLeaf: SameLeaf, name = path): string[] {
  if (isEmpty(a) && isEmpty(b)) return [];
  if (!isTree(a) || !isTree(b)) return !isTree(a) && !isTree(b) && sameLeaf(a, b, name) ? [] : [path];
  const list = Array.isArray(a);
  if (list !== Array.isArray(b)) return [path];
  return [...new Set([...Object.keys(a), ...Object.keys(b)])].flatMap((key) =>
    differences(child(a, key), child(b, key), list ? `${path}[${key}]` : `${path}.${key}`, sameLeaf, key),
  );
}

/** Compares decimal amounts numerically and everything else exactly. */
export function sameValue(a: unknown, b: unknown, key: string): boolean {
  const numeric = (key === 'amount' || key === 'amount_to') && [a, b].every(isNumeric);
  return numeric ? sameAmount(String(a), String(b)) : a === b;
}

const isNumeric = (value: unknown): boolean => typeof value === 'string' || typeof value === 'number';

/**
 * From best to worst. 'form': the same in another form or partly masked; 'hidden': not shown;
 * 'name': only a name has other letters.
 */
export type Likeness = 'same' | 'form' | 'hidden' | 'name' | 'other';

const FROM_BEST: readonly Likeness[] = ['same', 'form', 'hidden', 'name', 'other'];
export const worst = (...all: Likeness[]): Likeness => FROM_BEST.findLast((each) => all.includes(each)) ?? 'same';

/** Minimum visible characters of a wallet. */
const MIN_VISIBLE = 4;
/** Masking characters of services. A single X or # also occurs in texts and memos. */
const MASKS = { card: /[*•…#Xx]+/, wallet: /[*•…]+|#+|[Xx]{3,}/, text: /[*•…]+|#{2,}/ } as const;

/** Compares a value with a masked text: the visible parts must fit, including both ends. */
function likeMasked(value: string, shown: string, mask: RegExp): Likeness {
  const [head = '', ...rest] = shown.split(mask);
  const tail = rest.pop();
  if (tail === undefined) return 'other';
  if (value.length < head.length + tail.length || !value.startsWith(head) || !value.endsWith(tail)) return 'other';
  let middle = value.slice(head.length, value.length - tail.length);
  for (const part of rest) {
    const at = middle.indexOf(part);
    if (at < 0) return 'other';
    middle = middle.slice(at + part.length);
  }
  return head.length + tail.length + rest.join('').length < MIN_VISIBLE ? 'hidden' : 'form';
}

/** Compares two texts; absent, null and '' are equal. `compare` gets texts that differ. */
function likeText(asked: unknown, shown: unknown, compare: (asked: string, shown: string) => Likeness): Likeness {
  if (isBlank(asked) || asked === shown) return isBlank(shown) || asked === shown ? 'same' : 'other';
  if (isBlank(shown)) return 'hidden';
  return typeof asked === 'string' && typeof shown === 'string' ? compare(asked, shown) : 'other';
}

const withoutBlanks = (text: string): string => text.replace(/\s/g, '');

export const likeWallet = (network: string | null, asked: unknown, shown: unknown): Likeness =>
  likeText(asked, shown, (mine, theirs) => {
    const [wanted, written] = [canonicalWallet(network, mine), writtenLike(network, mine, theirs)];
    if (wanted === written) return 'same';
    if (withoutBlanks(wanted) === withoutBlanks(written)) return 'form';
    return likeMasked(wanted, withoutBlanks(written), network === 'card' ? MASKS.card : MASKS.wallet);
  });

/** Compares a tag or memo. Case counts, because some exchanges identify the payee by it alone. */
export const likeMemo = (asked: unknown, shown: unknown): Likeness =>
  likeText(asked, shown, (mine, theirs) =>
    mine.trim() === theirs.trim() ? 'form' : likeMasked(mine.trim(), theirs.trim(), MASKS.text),
  );

export const likeCode = (asked: unknown, shown: unknown): Likeness =>
  likeText(asked, shown, (mine, theirs) => (mine.toLowerCase() === theirs.trim().toLowerCase() ? 'form' : 'other'));

const folded = (text: string): string => withoutBlanks(text).toLowerCase();

const likeWords = (asked: unknown, shown: unknown, isName: boolean): Likeness =>
  likeText(asked, shown, (mine, theirs) => {
    if (folded(mine) === folded(theirs)) return 'form';
    const masked = likeMasked(folded(mine), folded(theirs), MASKS.text);
    return masked === 'other' && isName && isFormOfName(mine, theirs) ? 'name' : masked;
  });

const isReadable = (amount: unknown): amount is string =>
  typeof amount === 'string' && SIGNED_AMOUNT_FORMAT.test(amount);

/** Maximum plausible decimal places of a currency. */
const MAX_PRECISION = 36;

/** Returns true if an amount was rounded at the last stated decimal place of its currency. */
function isRounded(asked: string, shown: string, precision: unknown): boolean {
  if (typeof precision !== 'number' || !(precision >= 0 && precision <= MAX_PRECISION)) return false;
  if (decimalPlaces(asked) <= precision || decimalPlaces(shown) > precision || !decimal(shown).gt(0)) return false;
  return decimal(asked).minus(decimal(shown)).abs().times(decimal('10').pow(precision)).lt(1);
}

/** Compares amounts exactly, except for digits that the stated precision cannot express. */
export function likeAmount(asked: unknown, shown: unknown, precision?: unknown): Likeness {
  if (!isReadable(asked)) return 'other';
  if (!isReadable(shown)) return 'hidden';
  if (decimal(asked).eq(decimal(shown))) return 'same';
  return isRounded(asked, shown, precision) ? 'form' : 'other';
}

/** Returns 'form' if `shown` is exactly the amount plus a commission. */
export function likeAmountWithFee(asked: unknown, shown: unknown, fee: unknown): Likeness {
  if (!isReadable(asked) || !isReadable(shown) || !isReadable(fee) || !decimal(fee).gt(0)) return 'other';
  return decimal(asked).plus(decimal(fee)).eq(decimal(shown)) ? 'form' : 'other';
}

/**
 * Compares payout details, also as JSON text. Unrequested details are another payout; additional
 * keys are not.
 */
export function likeDetails(asked: unknown, shown: unknown): Likeness {
  if (isEmpty(asked)) return isEmpty(shown) ? 'same' : 'other';
  if (typeof shown !== 'string' || shown === '') return likeTree(asked, shown, '');
  const tree = treeOf(shown);
  return isTree(tree) || tree === null ? worst('form', likeTree(asked, tree, '')) : 'other';
}

/** Returns details that are shown as JSON text as what it holds. */
export const treeOf = (shown: unknown): unknown => (typeof shown === 'string' ? jsonOr(shown) : shown);

/** Compares two values at any depth. `key`: their field. */
export function likeTree(asked: unknown, shown: unknown, key: string): Likeness {
  if (isEmpty(asked)) return isEmpty(shown) ? 'same' : 'form';
  if (isEmpty(shown)) return 'hidden';
  if (!isTree(asked)) return likeLeaf(asked, shown, key);
  if (!isTree(shown) || Array.isArray(asked) !== Array.isArray(shown)) return 'other';
  const [mine, theirs] = [Object.keys(asked), Object.keys(shown)];
  // One card more or less is another payout.
  if (Array.isArray(asked) && mine.length !== theirs.length) return 'other';
  const extra = theirs.some((name) => !mine.includes(name) && !isEmpty(child(shown, name)));
  return worst(extra ? 'form' : 'same', ...mine.map((name) => likeTree(child(asked, name), child(shown, name), name)));
}

function likeLeaf(asked: unknown, shown: unknown, key: string): Likeness {
  if (isTree(shown)) return 'other';
  if (key === 'amount') return worst(likeAmount(String(asked), String(shown)) === 'same' ? 'same' : 'other');
  if (key === 'wallet') return likeWallet('card', asked, shown);
  if (typeof shown === 'number') return likeWords(String(asked), String(shown), false);
  return likeWords(asked, shown, PART_FIELDS.get(key)?.text === 'name');
}
