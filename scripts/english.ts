import type { SourceFile } from './import-directions.js';

/** Comment of a source file: its text without markers, the line it begins at, and its longest line. */
interface Comment {
  file: string;
  line: number;
  text: string;
  widest: number;
}

/** Findings per rule that are older than the rule. Lower a number when findings go; never raise one. */
const ALLOWED = { opening: 0, width: 78, sentences: 18, word: 7 };

type Rule = keyof typeof ALLOWED;

const MAX_COLUMNS = 100;
const MAX_SENTENCES = 2;

const OPENINGS = /^(?:That|What|True|Of|Where|Whoever|From here on)\b/;
const WORDS = /\b(?:told|untold|anew|once more|came to|comes to|said aloud|nobody knows|elsewhere|overruled)\b/i;

/** Reads block comments, and runs of line comments as one. */
function commentsOf({ path: file, text: source }: SourceFile): Comment[] {
  const comments: Comment[] = [];
  const pattern = /^[ \t]*\/\*[\s\S]*?\*\/|(?:^[ \t]*\/\/.*\n?)+/gm;
  for (const match of source.matchAll(pattern)) {
    const lines = match[0].trimEnd().split('\n');
    comments.push({
      file,
      line: source.slice(0, match.index).split('\n').length,
      text: lines
        .map((text) => text.replace(/^[ \t]*(?:\/\*\*?|\*\/|\*|\/\/)[ \t]?|\s*\*\/$/g, ''))
        .join(' ')
        .trim(),
      widest: Math.max(...lines.map((text) => text.length)),
    });
  }
  return comments;
}

const RULES: Record<Rule, (comment: Comment) => boolean> = {
  opening: ({ text }) => OPENINGS.test(text),
  width: ({ widest }) => widest > MAX_COLUMNS,
  sentences: ({ text }) => (text.match(/[.!?](?=\s+[A-Z]|$)/g) ?? []).length > MAX_SENTENCES,
  word: ({ text }) => WORDS.test(text),
};

/** Returns one line per rule for comments (`CONTRIBUTING.md`) that more comments break than before. */
export function englishProblems(sources: readonly SourceFile[]): string[] {
  const comments = sources.filter(({ path }) => path.startsWith('src/')).flatMap(commentsOf);
  return Object.entries(RULES).flatMap(([rule, breaks]) => {
    const found = comments.filter(breaks);
    const allowed = ALLOWED[rule as Rule];
    if (found.length <= allowed) return [];
    const places = found.map(({ file, line }) => `  ${file}:${line}`);
    return [`comments, rule "${rule}": ${found.length} findings, ${allowed} allowed`, ...places];
  });
}
