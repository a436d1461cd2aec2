/** The text of a mail. `kept`: what its sender wrote. `quoted` and `signature`: what was cut, as it stood there. */
export type CutMail = { kept: string; quoted: string; signature: string };

/** Lines with which mail programs begin what is answered; two lines are looked at together, because long ones are broken. */
const heads = [
  /^(on|am|le|el|il|op|den|em)\b.{6,300}\b(wrote|schrieb|a écrit|escribió|ha scritto|schreef|skrev|escreveu)\b.{0,200}:\s*$/i,
  /^-{2,}\s*(original message|ursprüngliche nachricht|message d'origine|forwarded message|weitergeleitete nachricht)\s*-{2,}$/i,
  /^_{20,}$/,
];
/** What Outlook begins with, in place of a line of its own. */
const fields = /^(from|von|de|da|van)\s*:.+@?/i;
const fieldsBelow = /^(sent|gesendet|date|datum|envoyé|to|an|à|subject|betreff|objet)\s*:/i;

/** Cuts what is quoted and the signature. What a mail has between its quotes stays: there its sender answers line by line. */
export function cutQuote(text: string): CutMail {
  const lines = text.replaceAll('\r\n', '\n').split('\n');
  const start = quoteStart(lines);
  const own = lines.slice(0, start);
  const quoted = lines.slice(start);
  const dashes = own.findIndex((line) => /^-- ?$/.test(line));
  const cut = dashes === -1 ? own.length : dashes;
  return { kept: join(own.slice(0, cut)), quoted: join(quoted), signature: join(own.slice(cut + 1)) };
}

/** Where nothing but a quote is left, to the end. */
function quoteStart(lines: readonly string[]): number {
  const isQuoteOnly = quoteOnlyFrom(lines);
  for (let at = 0; at < lines.length; at++) {
    if (isOutlook(lines, at)) return at;
    const length = headLength(lines, at);
    // A person may write such a line too; then no quote follows it.
    if (length > 0 && (isForward(lines[at] ?? '') || isQuoteOnly[at + length] === true)) return at;
    if (isQuote(lines[at] ?? '') && isQuoteOnly[at + 1] === true) return at;
  }
  return lines.length;
}

function headLength(lines: readonly string[], at: number): number {
  const [first = '', second = ''] = [lines[at]?.trim(), lines[at + 1]?.trim()];
  if (first.length > 400) return 0;
  if (heads.some((head) => head.test(first))) return 1;
  return second !== '' && second.length <= 400 && heads[0]?.test(`${first} ${second}`) === true ? 2 : 0;
}

const isForward = (line: string): boolean => heads.slice(1).some((head) => head.test(line.trim()));
const isOutlook = (lines: readonly string[], at: number): boolean =>
  fields.test(lines[at]?.trim() ?? '') && lines.slice(at + 1, at + 4).filter((line) => fieldsBelow.test(line.trim())).length >= 2;
const isQuote = (line: string): boolean => line.startsWith('>');
/**
 * For each line, and for the end: whether from there on there is a quote, and nothing else but empty lines, up to a signature or
 * the end. Where one of those is at once, that is so as well. Looked at from the end, once: a mail may be nothing but such lines.
 */
function quoteOnlyFrom(lines: readonly string[]): boolean[] {
  const found = Array.from({ length: lines.length + 1 }, () => true);
  let hasQuote = false;
  let hasElse = false;
  for (let at = lines.length - 1; at >= 0; at--) {
    const line = lines[at] ?? '';
    if (/^-- ?$/.test(line)) {
      hasQuote = hasElse = false;
      continue;
    }
    if (isQuote(line)) hasQuote = true;
    else if (line.trim() !== '') hasElse = true;
    found[at] = hasQuote && !hasElse;
  }
  return found;
}
const join = (lines: readonly string[]): string => lines.join('\n').trim();
