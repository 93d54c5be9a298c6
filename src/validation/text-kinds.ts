/**
 * Kind of a field's text: 'id', 'code' and 'name' identify an order or payee, 'figure' is a number,
 * 'free' is any text, 'parts' has none.
 */
export type TextKind = 'id' | 'code' | 'name' | 'figure' | 'free' | 'parts';
/** Most texts are plain and need only this test. */
const PLAIN = /^(?:[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?)?$/;

const CODE = /[^\x20-\x7e]/u;
/** Forbidden in all texts. Schemas refuse control characters. */
const FREE = /[\p{Bidi_Control}\p{Cs}]/u;
const INVISIBLE = /[\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}\u2800\ufffc]/u;
const NAME = new RegExp(`(?![ 0-9])[\\p{Cs}\\p{Z}\\p{Nd}\\ufffd]|${INVISIBLE.source}`, 'u');

/** Scripts in which joiners change the writing of a name. */
const JOINED = [
  ...['Arabic', 'Bengali', 'Devanagari', 'Gujarati', 'Gurmukhi', 'Kannada', 'Khmer', 'Malayalam', 'Mongolian'],
  ...['Myanmar', 'Oriya', 'Sinhala', 'Syriac', 'Tamil', 'Telugu'],
];
const scripts = (names: readonly string[]): string => `[${names.map((name) => `\\p{scx=${name}}`).join('')}]`;
const CJK = scripts(['Han', 'Hiragana', 'Katakana']);
/** Joiners after a letter, and the wide blank in Japanese or Chinese names. */
const USUAL_IN_NAMES = new RegExp(`(?<=${scripts(JOINED)})[\\u200c\\u200d]|(?<=${CJK})\\u3000(?=${CJK})`, 'gu');

const LOOK_ALIKES = ['Cyrillic', 'Greek', 'Armenian', 'Cherokee', 'Hebrew', 'Arabic', 'Han'] as const;

/** Returns a character's code and description: `U+0410 (a Cyrillic letter)`. */
export function describeCharacter(character: string): string {
  const code = `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`;
  return `${code} (${whatIs(character)})`;
}

function whatIs(character: string): string {
  if (/\p{Bidi_Control}/u.test(character)) return 'a character that changes the direction of reading';
  if (/\p{Nd}/u.test(character)) return 'a digit that is not one of 0 to 9';
  if (/\p{Z}/u.test(character)) return 'a blank that is no plain space';
  if (INVISIBLE.test(character)) return 'an invisible character';
  if (/[\p{Cs}\ufffd]/u.test(character)) return 'the rest of a lost character';
  const script = LOOK_ALIKES.find((name) => new RegExp(`\\p{Script=${name}}`, 'u').test(character));
  if (script) return `a ${script} letter`;
  return /\p{L}/u.test(character) ? 'a letter outside of A to Z' : 'a character outside of ASCII';
}

/** Returns why a text does not fit its kind, without the text; undefined if it fits. */
export function textProblem(kind: TextKind, value: string): string | undefined {
  if (PLAIN.test(value)) return undefined;
  if (kind === 'free') return badCharacter(FREE, value);
  if (/^\s|\s$/u.test(value)) return 'begins or ends with a blank: delete it';
  return kind === 'name' ? badCharacter(NAME, value.replace(USUAL_IN_NAMES, '')) : badCharacter(CODE, value);
}

function badCharacter(bad: RegExp, value: string): string | undefined {
  const [found] = bad.exec(value) ?? [];
  if (!found) return undefined;
  const isHidden = INVISIBLE.test(found) || FREE.test(found);
  const advice = isHidden ? 'delete it' : /\p{Z}/u.test(found) ? 'type a plain space there' : 'type the value again';
  return `contains ${describeCharacter(found)}: ${advice}, as the payee gave it`;
}
