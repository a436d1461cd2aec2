/** So much of what follows a head line is read before it is decided whether a key follows. */
const maxLead = 48;
/** The shortest key has 64 characters; what is shorter is an example of one. */
const leastKey = 60;
const keyRun = /^(?:[A-Za-z0-9+/=]|\s|\\[nr])*/;
const lead = /^(?:[\s"'`+,>|]|\\[nrt"'\\])*/;
const headerWord = /^(?:Proc-Type|DEK-Info|Version|Comment|Hash|Charset|Subject|Key)\s*:/;
const head = /-----? ?BEGIN[ A-Z0-9_-]{0,100}$/i;
const end = /-----? ?END /i;

/** The beginning of a block of private key, behind the words that end its head line. */
export const keyBlockStart = {
  words: ['private key-----', 'private key block-----', 'private key ----'],

  /** True when those words, which begin at `from`, are part of a head line. */
  isHead: (text: string, from: number): boolean => head.test(text.slice(Math.max(0, from - 120), from)),

  /** Whether a key follows the head line: code and manuals also name it without one. */
  verdict(after: string, isEnd: boolean): 'key' | 'no' | 'open' {
    const rest = after.slice((lead.exec(after)?.[0] ?? '').length);
    if (after.length - rest.length > maxLead) return 'no';
    if (headerWord.test(rest)) return 'key';
    const run = keyRun.exec(rest)?.[0] ?? '';
    const length = run.replaceAll(/\\[nr]|\s/g, '').length;
    if (length >= leastKey) return 'key';
    if (isEnd) return length > 0 && run.length >= rest.length - 1 ? 'key' : 'no';
    return run.length === rest.length || rest === `${run}\\` || /^[A-Z][A-Za-z-]{0,12}$/.test(rest) ? 'open' : 'no';
  },
};

/** Where the end line of a key begins, -1 while there is none: a block without one is masked to the end of the text. */
export function endOfKeyBlock(text: string, from: number): number {
  const rest = text.slice(from);
  const found = end.exec(rest);
  return found === null ? -1 : from + found.index;
}
