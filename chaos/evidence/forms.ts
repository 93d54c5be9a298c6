/** One way in which a value may be written. */
export interface Form {
  form: string;
  bytes: Buffer;
}

/** Shorter parts of a value occur by chance, or are what may be shown of it. */
const MIN_LENGTH_WITH_PARTS = 12;

/** Every way in which a text or some bytes may stand in a file or a message: escaped, encoded, regrouped, or cut. */
export function formsOf(value: string | Buffer): Form[] {
  const written = typeof value === 'string' ? spellings(value) : [];
  const plain = [...written, { form: 'plain', bytes: Buffer.from(value) }];
  const encodable = plain.filter(({ form }) => form === 'plain' || form === 'JSON');
  const forms = [...plain, ...encodable.flatMap(({ bytes }) => [...inBase64(bytes), ...inHex(bytes)])];
  return [...new Map(forms.map((form) => [form.bytes.toString('latin1'), form])).values()];
}

function spellings(value: string): Form[] {
  const escaped = JSON.stringify(value).slice(1, -1);
  const ascii = escaped.replace(/[^\x20-\x7e]/g, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`);
  const cut = Math.ceil(value.length * 0.75);
  const parts = value.length < MIN_LENGTH_WITH_PARTS ? [] : [value.slice(0, cut), value.slice(-cut)];
  const texts: [form: string, text: string][] = [
    ['JSON', escaped],
    ['JSON in ASCII', ascii],
    ['JSON in JSON', JSON.stringify(escaped).slice(1, -1)],
    ['URL', encodeURIComponent(value)],
    ['form', new URLSearchParams({ x: value }).toString().slice(2)],
    ['lower case', value.toLowerCase()],
    ['capitals', value.toUpperCase()],
    ...regrouped(value).map((text): [string, string] => ['regrouped', text]),
    ...parts.map((text): [string, string] => ['in part', text]),
  ];
  return [
    ...texts.map(([form, text]) => ({ form, bytes: Buffer.from(text) })),
    { form: 'UTF-16', bytes: Buffer.from(value, 'utf16le') },
  ];
}

/** Numbers as they are printed and typed. */
function regrouped(value: string): string[] {
  const bare = value.replace(/[ -]/g, '');
  if (!/^[A-Z]{0,2}\d{12,}$/.test(bare)) return [];
  const groups = bare.match(/.{1,4}/g) ?? [];
  return [bare, groups.join(' '), groups.join('-')];
}

/** Inside of a longer text, base64 depends on where the value begins. */
function inBase64(bytes: Buffer): Form[] {
  return [0, 1, 2].flatMap((before) => {
    const all = Buffer.concat([Buffer.alloc(before), bytes]);
    const text = all.toString('base64').slice(Math.ceil((before * 8) / 6), Math.floor((all.length * 8) / 6));
    const url = text.replaceAll('+', '-').replaceAll('/', '_');
    return [text, url].map((each) => ({ form: 'base64', bytes: Buffer.from(each) }));
  });
}

function inHex(bytes: Buffer): Form[] {
  const text = bytes.toString('hex');
  return [text, text.toUpperCase()].map((each) => ({ form: 'hex', bytes: Buffer.from(each) }));
}
