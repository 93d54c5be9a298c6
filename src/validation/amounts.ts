import { AMOUNT_FORMAT, type Amount, decimal, MAX_AMOUNT_LENGTH, writtenPlaces } from '../contract/money.js';

/** A longer run of digits may be a card number, and is not repeated in a message. */
const MOST_SHOWN_DIGITS = 11;

const DECIMAL = 'must be a decimal string, like "10.50"';
const SEPARATOR = "[,.'’‘`´٬_\\s]";
const GROUPED = new RegExp(`^([1-9]\\d{0,2}(${SEPARATOR})(?:\\d{2,3}\\2)*\\d{3})(?:([.,])(\\d+))?$`);
/** Letters and signs may stand for a factor or for another currency, so that no advice is to leave them out. */
const OWN_FIELD = 'write the whole amount in digits, in the currency that the currency field names';

const isShown = (text: string): boolean => text.replace(/\D/g, '').length <= MOST_SHOWN_DIGITS;
const WITHOUT = 'write digits, and a point before the decimals';
const writeIt = (amount: Amount): string => (isShown(amount) ? `write ${amount}` : WITHOUT);

/** A comma is read between thousands first; before one or two digits it can only be a decimal comma. */
function commaProblem(text: string): string | undefined {
  const [, whole = '', fraction] = /^(0|[1-9]\d*),(\d+)$/.exec(text) ?? [];
  if (fraction === undefined) return undefined;
  const amount = `${whole}.${fraction}`;
  if (whole === '0' || fraction.length < 3) return `has a decimal comma: ${writeIt(amount)}`;
  if (!isShown(amount)) return `has separators: ${WITHOUT}`;
  const value = decimal(amount).toFixed();
  const places = Math.max(2, value.split('.')[1]?.length ?? 0);
  const thousands = `${whole}${fraction}`;
  return `has separators: ${thousands} or ${value}? write ${thousands} or ${decimal(amount).toFixed(places)}`;
}

function groupsProblem(text: string): string | undefined {
  const [, groups = '', separator, mark, fraction] = GROUPED.exec(text) ?? [];
  if (separator === undefined || mark === separator) return undefined;
  const digits = groups.replace(/\D/g, '');
  return `has separators: leave them out, ${writeIt(fraction === undefined ? digits : `${digits}.${fraction}`)}`;
}

/** Common mistakes in place of an amount, with advice. The first match holds. */
const SHAPES: readonly [sign: RegExp, reason: string | ((text: string) => string)][] = [
  [/[\p{Cc}\p{Cf}]/u, 'has an invisible character: type it again'],
  [/^\s|\s$/, 'has a blank before or after it: remove it'],
  [/^\d+[.,][-\u2010-\u2015]+$/, 'ends with a dash in place of decimals: write 00 there, behind a point'],
  [/^[-\u2010-\u2015\u2212]|[-\u2010-\u2015\u2212]$/, 'must be > 0: the minus sign makes it negative'],
  [/^\(.*\)$/, 'must be > 0: the brackets make it negative'],
  [/^\+|\+$/, 'has a plus sign: leave it out'],
  [/\p{Sc}/u, `has a currency sign: ${OWN_FIELD}`],
  [/^\d+([.,]\d+)?e[-+]?\d+$/i, 'has an exponent: write all of its digits'],
  [/^\p{L}+\.?\s?\d|\d\s?\p{L}+\.?$/u, `has letters, such as a currency code, k or Mio: ${OWN_FIELD}`],
  [/\p{L}/u, 'has a letter: write digits and at most one point'],
  [/(?![0-9])\p{Nd}/u, 'has digits of another script: write 0 to 9'],
  [/["“”„«»'’]/, 'has a quote or an apostrophe: remove it'],
  [/^0+\d+(\.\d+)?$/, (text) => `begins with 0: ${writeIt(text.replace(/^0+(?=\d)/, ''))}`],
  [/^\.\d+$/, (text) => `begins with the point: ${writeIt(`0${text}`)}`],
  [/^\d+\.$/, (text) => `ends with the point: ${writeIt(text.slice(0, -1))}`],
  [/\..*\./, 'has more than one point'],
  [/\d[\s‘`´٬_,]+\d/, 'has a blank or separators: write digits and at most one point'],
];

/** Returns what is wrong with an amount; undefined for a positive decimal string. */
export function amountProblem(value: unknown): string | undefined {
  if (value === undefined) return 'required';
  if (typeof value === 'number' || typeof value === 'bigint') return 'amounts are strings, like "10.50"';
  if (typeof value !== 'string') return DECIMAL;
  if (value.length > MAX_AMOUNT_LENGTH) return `longer than ${MAX_AMOUNT_LENGTH} characters`;
  if (AMOUNT_FORMAT.test(value)) return decimal(value).gt(0) ? undefined : 'must be > 0';
  const known = commaProblem(value) ?? groupsProblem(value);
  if (known) return known;
  const reason = SHAPES.find(([sign]) => sign.test(value))?.[1] ?? DECIMAL;
  return typeof reason === 'string' ? reason : reason(value);
}

/** Why an amount has more decimals than its currency, trailing zeros counted, with what else it may mean. */
export function precisionProblem(name: string, amount: Amount, currency: string, places: number): string | undefined {
  const written = writtenPlaces(amount);
  if (written <= places) return undefined;
  const [whole = '', fraction = ''] = amount.split('.');
  const what = `${name} has ${written} decimals, ${currency} allows ${places}`;
  if (!isShown(amount)) return what;
  const fits = decimal(amount).round(places).eq(decimal(amount));
  const shortened = fits ? decimal(amount).toFixed(places) : `at most ${places} decimals`;
  // 0.123 cannot mean thousands.
  if (whole === '0') return `${what}: write ${shortened}`;
  const without = `${whole}${fraction}`;
  return `${what}: ${decimal(amount).toFixed()} or ${without}? write ${without} or ${shortened}`;
}

/** Fewest decimals of a currency with which an amount such as 1.250 can be what it seems. */
const LIKE_THOUSANDS_FROM = 3;

/** How else an amount may be meant that a currency of three decimals or more admits; undefined = no other way. */
export function thousandsReading(amount: Amount, currency: string, places: number): string | undefined {
  if (places < LIKE_THOUSANDS_FROM || !/^[1-9]\d{0,2}\.\d{3}$/.test(amount)) return undefined;
  const other = amount.replace('.', '');
  return `an amount in ${currency} looks like thousands: ${amount} is read as ${decimal(amount).toFixed()}. If it means ${other}, write ${other}`;
}
