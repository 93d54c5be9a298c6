/* Compares names of payees. Workflows use it, so it uses nothing of Node. */

/** Letters that people and banks write in several ways, beside the letter without its accent. */
const FORMS: ReadonlyMap<string, readonly string[]> = new Map(
  [
    'ä:ae ö:oe ü:ue ő:oe ű:ue å:aa ø:oe,o æ:ae,a œ:oe,o ß:ss,s,sz þ:th,t ð:d,dh,th đ:d,dj ł:l ħ:h ı:i ŋ:n,ng ŧ:t ə:a,e',
    'č:ch š:sh ž:zh ş:sh',
    'α:a β:v,b γ:g,gh,n,y δ:d,dh ε:e ζ:z η:i,e,h θ:th ι:i κ:k,c λ:l μ:m ν:n ξ:x,ks ο:o π:p ρ:r σ:s τ:t υ:y,u,v,f,i φ:f,ph',
    'χ:ch,h,x,kh ψ:ps ω:o,w',
    'а:a б:b в:v,w г:g,h,gh ґ:g д:d е:e,ye,je ё:yo,jo,io є:ye,ie,je ж:zh,z,j,sch з:z,s и:i,y і:i ї:yi,ji й:i,y,j к:k л:l',
    'м:m н:n о:o п:p р:r с:s,ss т:t у:u,ou ф:f х:kh,h,x,ch ц:ts,c,tz,z ч:ch,c,tch,tsch ш:sh,s,ch,sch',
    'щ:shch,sch,sht,sc,shh,schtsch ъ:,ie,a ы:y,i ь:,y э:e ю:yu,iu,ju,u я:ya,ia,ja,a ў:u,w',
    'ђ:dj,d ј:j љ:lj,l њ:nj,n ћ:c џ:dz,dzh,dj ѓ:gj,g ќ:kj,k ѕ:dz ә:a ғ:g,gh қ:k,q ң:n,ng ө:o ұ:u ү:u һ:h',
  ]
    .join(' ')
    .split(' ')
    .map((entry) => [entry[0] ?? '', entry.slice(2).split(',')] as const),
);

/** Stands for letters that a service lost, however many. */
const LOST = '?';

const lower = (name: string): string => name.toLowerCase().replaceAll('ς', 'σ');

/** Returns letters and digits without accents. Marks of other scripts are letters of their own. */
const bare = (text: string): string =>
  lower(text.normalize('NFKD'))
    .replace(/[\u0300-\u036f]/g, '')
    .replace(/[^\p{Ll}\p{Lo}\p{M}\p{Nd}]/gu, '');

const written = (shown: string): string =>
  shown
    .split(/[?\ufffd]+/)
    .map(bare)
    .join(LOST);

function formsOf(letter: string): string[] {
  const base = bare(letter);
  // Converters without `?` leave a letter out. In other scripts little would be left to compare.
  const none = /\p{Script=Latin}/u.test(letter) ? [''] : [];
  return [base, base + LOST, ...none, ...(FORMS.get(letter) ?? []), ...(FORMS.get(base) ?? [])];
}

/** Minimum length of a name that was cut at its end. */
const MIN_CUT_LENGTH = 8;

/**
 * Returns true if a service may show this name so: without accents, transliterated, cut, or
 * with `?` or nothing for letters outside of ASCII.
 */
export function isFormOfName(asked: string, shown: string): boolean {
  const text = written(shown);
  const isLost = (at: number) => text[at] === LOST;
  /** Places of the shown text up to which the name was found so far. */
  let ends = new Set([0]);
  let isCut = false;
  for (const one of asked.normalize('NFC')) {
    const [letter, isAscii] = [lower(one), one < '\x80'];
    const forms = isAscii ? [bare(letter)] : formsOf(letter);
    const found = [...ends].flatMap((end) => {
      const rest = text.slice(end);
      isCut ||= forms.some((form) => form.startsWith(rest));
      // Several lost letters may be one mark.
      const lost = !isAscii && isLost(end) ? [end, end + 1] : [];
      return [...lost, ...forms.flatMap((form) => (rest.startsWith(form) ? [end + form.length] : []))];
    });
    ends = new Set(found);
  }
  return ends.has(text.length) || (isCut && text.length >= MIN_CUT_LENGTH);
}
