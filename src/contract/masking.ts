/** Returns a masked wallet: `****1111`, or `****` if the last characters would reveal too much. */
export function maskWallet(wallet: string): string {
  const bare = wallet.replace(/[^A-Za-z0-9]/g, '');
  // Digits after the 16th may be the expiry date or security code of a card.
  const mayEndInCode = /^\d{16}./.test(bare);
  return bare.length >= 12 && !mayEndInCode ? `****${bare.slice(-4)}` : '****';
}

const FOREIGN_DIGITS = /(?:(?![0-9])\p{Nd})+/gu;

/** Masks cards, IBANs, e-mails and long digit runs in texts of persons or the service. */
export const maskWords = (words: string): string =>
  replaceNumbers(
    words
      .replace(FOREIGN_DIGITS, (digits) => digits.normalize('NFKC').replace(/[^\d]+/g, '****'))
      .replace(/(?<![^\s.[\]])[^\s.[\]]*[@＠﹫][^\s[\]]*/g, '****'),
    () => '****',
    'anyhow',
  )
    .replace(/(?<![A-Za-z0-9])[A-Za-z0-9]*\d{6,}[A-Za-z0-9]*/g, '****')
    .replace(/\w{26,}/g, '****')
    .replace(/[\p{C}\p{Zl}\p{Zp}]/gu, '?');

/** Masks a name that callers chose (field, currency, network), and cuts it after 120 characters. */
export function maskName(name: string): string {
  const masked = maskWords(name);
  return masked.length > 120 ? `${masked.slice(0, 120)}…` : masked;
}

/** Maximum length of a text that is shown in part. */
const MAX_SHOWN_TEXT = 80;

/**
 * Shows so much of a private text that a person can compare it with another: begins and ends of
 * words, and the first difference. `Jü•••n S••••`.
 */
export function maskText(text: string, other: string): string {
  let differsAt = 0;
  while (differsAt < text.length && text[differsAt] === other[differsAt]) differsAt += 1;
  const isShown = (word: string, at: number) => at < (word.length > 5 ? 2 : 1) || (at === word.length - 1 && at >= 5);
  return text
    .slice(0, MAX_SHOWN_TEXT)
    .replace(/[\p{C}\p{Zl}\p{Zp}]/gu, '?')
    .replace(/[\p{L}\p{M}\p{N}]+/gu, (word, from: number) =>
      word.replace(/./gu, (letter, at: number) =>
        isShown(word, at) || from + at === differsAt || from + at === differsAt + 1 ? letter : '•',
      ),
    );
}

/* Finds card numbers and IBANs in texts. Workflows use it, so it uses nothing of Node. */

/** Returns true if a card number's check digit fits (Luhn). */
export function passesLuhn(digits: string): boolean {
  const total = [...digits].reverse().reduce((sum, digit, index) => {
    const value = Number(digit) * (index % 2 === 1 ? 2 : 1);
    return sum + (value > 9 ? value - 9 : value);
  }, 0);
  return total % 10 === 0;
}

/** IBAN lengths of SEPA countries (SWIFT registry). mod-97 alone misses one in 97 wrong lengths. */
export const SEPA_IBAN_LENGTHS: ReadonlyMap<string, number> = new Map(
  (
    'AD24 AL28 AT20 BE16 BG22 CH21 CY28 CZ24 DE22 DK18 EE20 ES24 FI18 FR27 GB22 GI23 GR27 HR21 HU28 IE22 IS26 IT27 ' +
    'LI21 LT20 LU20 LV21 MC27 MD24 ME22 MK19 MT31 NL18 NO15 PL28 PT25 RO24 RS22 SE24 SI19 SK24 SM27 VA22'
  )
    .split(' ')
    .map((entry) => [entry.slice(0, 2), Number(entry.slice(2))]),
);

export const UA_IBAN_LENGTHS: ReadonlyMap<string, number> = new Map([['UA', 29]]);

export function passesMod97(iban: string): boolean {
  let rest = 0;
  for (const character of iban.slice(4) + iban.slice(0, 4)) {
    // Base 36 maps A..Z to 10..35, as the standard does.
    for (const digit of Number.parseInt(character, 36).toString()) rest = (rest * 10 + Number(digit)) % 97;
  }
  return rest === 1;
}

/** 'asPrinted': in the groups of a card or IBAN, for refusing names. 'anyhow': for typed texts. */
type Groups = 'asPrinted' | 'anyhow';

/**
 * Character between two groups: in names, blanks, dashes and invisible characters; in texts,
 * anything but letters and digits.
 */
const GAP: Readonly<Record<Groups, string>> = {
  asPrinted: String.raw`[\s\p{Pd}\p{Cf}_.:/#]`,
  anyhow: String.raw`(?:[^\p{L}\p{Nd}]|\p{Default_Ignorable_Code_Point})`,
};

/**
 * All characters between two groups, in texts up to four, such as `", "` of a JSON array. A plus
 * starts a phone number.
 */
const ONLY_GAP: Readonly<Record<Groups, RegExp>> = {
  asPrinted: new RegExp(`^${GAP.asPrinted}{1,3}$`, 'u'),
  anyhow: new RegExp(`^(?:\\+{1,3}|${GAP.anyhow}{0,3}(?!\\+)${GAP.anyhow})$`, 'u'),
};

/** Excludes times, which start with 1 or 20. */
const BEGINS_AS_CARD = /^(?:2[2-7]|[3-6])/;
/** Group lengths of a card: whole, as printed, with the bank's six digits apart, or in twos. */
const CARD_GROUPS = /^(?:1[3-9]|4-4-4-4(?:-[123])?|4-6-[45]|6-(?:9|10)|2(?:-2){7})$/;
/** Excludes a number of six digits followed by a time in seconds. */
const SECONDS = /^\d{6}1[6-9]\d{8}$/;
/**
 * Digits without adjacent letters: hashes contain letters, and a letter makes a name acceptable.
 */
const DIGITS_OF_NAMES = /(?<![A-Za-z0-9])\d+(?![A-Za-z0-9])/g;

/** Dates, times, addresses and amounts. Lists of them often pass Luhn. */
const NO_GROUPS = [
  /20\d\d(?<dash>[-./])\d\d\k<dash>\d\d(?!\d)/,
  /(?<!\d[-./])\d{1,2}(?<dot>[-./])\d{1,2}\k<dot>(?:20)?\d\d(?![-./]?\d)/,
  /\d\d:\d\d(?::\d\d)?(?![\d:])/,
  /(?<!\d\.)\d{1,3}(?:\.\d{1,3}){3}(?!\.?\d)/,
  // Rates: 0.9836. Amounts: 12.50, 12 500.00 and 12,500; 4500.00 unless it may end a card number.
  /(?<!\d\.)\d\.\d{3,8}(?!\.?\d)/,
  /(?<!\d\.)\d{1,3}(?:[ ,]\d{3}){0,6}\.\d\d(?!\.?\d)/,
  /(?<!\d,)\d{1,3}(?:[ .]\d{3}){0,6},\d\d(?![.,]?\d)/,
  /(?:(?<!\d[^\s\d])|(?<=\.\d\d,))\d{4,9}[.,]\d\d(?!\.?\d)/,
  /(?<!\d,)\d{1,3}(?:,\d{3}){1,2}(?!,?\d)/,
];

const DIGITS_OF_WORDS = new RegExp([...NO_GROUPS.map(({ source }) => source), String.raw`\d+`].join('|'), 'g');

/** Numbers in the groups of a card or IBAN with a wrong check digit, possibly mistyped. */
const GROUPED =
  /(?<!\w)(?:\d{4}(?:[ -]\d{4}){3,}(?:[ -]\d{1,4})?|[A-Z]{2}\d{2}(?:[ -]\d{4}){2,}[ -]\d{1,4}|\d{4}[ -]\d{6}[ -]\d{5})(?!\w)/gi;

interface Span {
  from: number;
  to: number;
}

/** Returns true for a text with a card number (Luhn) or an IBAN (mod 97), in any groups. */
export const holdsNumber = (text: string): boolean =>
  cardsIn(text, 'anyhow').length > 0 || ibansIn(text, 'anyhow').length > 0;

/** Replaces each card number and IBAN by `show`. Overlapping ones count as one. */
export function replaceNumbers(text: string, show: (number: string) => string, groups: Groups): string {
  const spans: Span[] = [];
  const typed = groups === 'anyhow' ? spansOf(text, GROUPED) : [];
  const found = [...cardsIn(text, groups), ...ibansIn(text, groups), ...typed];
  for (const { from, to } of found.sort((a, b) => a.from - b.from)) {
    const last = spans.at(-1);
    if (last && from < last.to) last.to = Math.max(last.to, to);
    else spans.push({ from, to });
  }
  const kept = spans.map(
    ({ from, to }, index) => text.slice(spans[index - 1]?.to ?? 0, from) + show(text.slice(from, to)),
  );
  return kept.join('') + text.slice(spans.at(-1)?.to ?? 0);
}

function cardsIn(text: string, groups: Groups): Span[] {
  const found = [...text.matchAll(groups === 'anyhow' ? DIGITS_OF_WORDS : DIGITS_OF_NAMES)];
  return found.flatMap((_, first) => {
    let digits = '';
    const lengths: number[] = [];
    const spans: Span[] = [];
    for (const [index, { 0: group, index: at }] of found.slice(first, first + MAX_CARD).entries()) {
      const before = found[first + index - 1];
      if (!/^\d+$/.test(group) || digits.length + group.length > MAX_CARD) break;
      if (before && index > 0 && !ONLY_GAP[groups].test(text.slice(before.index + before[0].length, at))) break;
      digits += group;
      lengths.push(group.length);
      const isGrouped =
        groups === 'anyhow' || (CARD_GROUPS.test(lengths.join('-')) && !(index === 1 && SECONDS.test(digits)));
      if (isGrouped && isCard(digits)) spans.push({ from: found[first]?.index ?? 0, to: at + group.length });
    }
    return spans;
  });
}

const MAX_CARD = 19;
const isCard = (digits: string): boolean => digits.length >= 13 && BEGINS_AS_CARD.test(digits) && passesLuhn(digits);

/** Countries per IBAN length, with the pattern of the rest: whole, in groups of four, or any. */
const IBANS = [...new Set([...SEPA_IBAN_LENGTHS, ...UA_IBAN_LENGTHS].map(([, length]) => length))].map((length) => {
  const countries = [...SEPA_IBAN_LENGTHS, ...UA_IBAN_LENGTHS].flatMap(([name, its]) => (its === length ? [name] : []));
  const begin = `(?<![A-Za-z0-9])(?:${countries.join('|')})`;
  const [fours, rest] = [Math.floor(length / 4) - 1, length % 4];
  const gap = `${GAP.asPrinted}{1,3}`;
  const inFours = `(?:${gap}[A-Z0-9]{4}){${fours}}${rest > 0 ? `${gap}[A-Z0-9]{${rest}}` : ''}`;
  const any = `${GAP.anyhow}{0,4}`;
  const end = '(?![A-Za-z0-9])';
  return {
    asPrinted: new RegExp(`${begin}\\d{2}(?:[A-Z0-9]{${length - 4}}|${inFours})${end}`, 'giu'),
    anyhow: new RegExp(`${begin}(?:${any}\\d){2}(?:${any}[A-Z0-9]){${length - 4}}${end}`, 'giu'),
  };
});

const spansOf = (text: string, pattern: RegExp, fits: (found: string) => boolean = () => true): Span[] =>
  [...text.matchAll(pattern)].flatMap(({ 0: found, index }) =>
    fits(found) ? [{ from: index, to: index + found.length }] : [],
  );

const isIban = (found: string): boolean => passesMod97(found.replace(/[^A-Za-z0-9]/g, '').toUpperCase());

/** Start of every IBAN. Most texts have none, and each length has a pattern of its own. */
const BEGINS_AS_IBAN = new RegExp(
  `(?<![A-Za-z0-9])(?:${[...SEPA_IBAN_LENGTHS.keys(), ...UA_IBAN_LENGTHS.keys()].join('|')})(?:${GAP.anyhow}{0,4}\\d){2}`,
  'iu',
);

const ibansIn = (text: string, groups: Groups): Span[] =>
  BEGINS_AS_IBAN.test(text) ? IBANS.flatMap((patterns) => spansOf(text, patterns[groups], isIban)) : [];
