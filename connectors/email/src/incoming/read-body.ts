import { isUtf8 } from 'node:buffer';
import { convert, type HtmlToTextOptions } from 'html-to-text';
import { simpleParser, type Attachment, type ParsedMail, type SimpleParserOptions } from 'mailparser';
import { calendarText } from './calendar-text.ts';
import { cutQuote } from './cut-quote.ts';
import { withCharsets } from './guess-charset.ts';

export type MailFile = { name: string; mime: string; data: Buffer };
/** What a mail says. `text` has neither quotes nor the signature; `cut` is what was left out. */
export type MailBody = { text: string; cut: string; invitations: string[]; files: MailFile[]; leftOut: number };

/** Longest text that is looked at, in characters. */
const longest = 500_000;
const longestHtml = 5_000_000;
/** Of an image nothing is left: its address could show its sender who reads. */
const htmlOptions: HtmlToTextOptions = {
  wordwrap: false,
  limits: { maxDepth: 100, maxInputLength: longestHtml },
  selectors: [
    { selector: 'a', options: { hideLinkHrefIfSameAsText: true } },
    { selector: 'img', format: 'skip' },
    ...['h1', 'h2', 'h3', 'h4', 'h5', 'h6'].map((selector) => ({ selector, options: { uppercase: false } })),
  ],
};
const parserOptions: SimpleParserOptions = {
  skipImageLinks: true,
  skipTextToHtml: true,
  skipTextLinks: true,
  skipHtmlToText: true,
};
/** Parts of a mail that become files; so many an envelope can hold. */
const mostFiles = 32;

/**
 * Reads a whole mail. HTML becomes text where there is no other, and nothing is ever fetched for it. Rejects for what no parser takes; then its header is
 * all there is.
 */
export async function readBody(raw: Buffer): Promise<MailBody> {
  const legible = isUtf8(raw) ? raw : await withCharsets(raw, { texts: false });
  const mail = await simpleParser(legible, parserOptions);
  const text = textOf(mail);
  const isGarbled = text.length <= longestHtml && text.includes('\ufffd');
  const said = isGarbled ? textOf(await simpleParser(await withCharsets(raw, { texts: true }), parserOptions)) : text;
  const { kept, quoted, signature } = cutQuote(clean(said).slice(0, longest));
  const invitations = [
    ...new Set(mail.attachments.filter(isCalendar).map(({ content }) => calendarText(content.toString('utf8')))),
  ];
  const files = mail.attachments.filter((one) => !isCalendar(one) && !isForPrograms(one) && one.content.length > 0);
  return {
    // A mail that is nothing but a quote, such as a forward, says just that.
    text: kept === '' ? quoted : kept,
    cut: [...(kept === '' ? [] : [quoted]), signature].filter((part) => part !== '').join('\n\n'),
    invitations: invitations.filter((one) => one !== null),
    files: files.slice(0, mostFiles).map(toFile),
    leftOut: Math.max(0, files.length - mostFiles),
  };
}

/** A subject as text: programs write one in an encoding as soon as it holds a letter that is not English, with the mark of an answer in it. */
export async function readSubject(written: string): Promise<string> {
  const line = written.replaceAll(/[\r\n]+/g, ' ').slice(0, 5000);
  const { subject = '' } = await simpleParser(Buffer.from(`Subject: ${line}\r\n\r\n`));
  return clean(subject).replaceAll(/\s+/g, ' ').trim().slice(0, 500).toWellFormed();
}

function textOf({ text = '', html }: ParsedMail): string {
  if (text.trim() !== '' || html === false) return text;
  return convert(html.slice(0, longestHtml), htmlOptions);
}

/** Detached signatures, and the line that says by what a mail is encrypted: each mail of some companies has one. */
const isForPrograms = ({ contentType }: Attachment): boolean =>
  /^application\/(?:(?:x-)?pkcs7-signature|pgp-signature|pgp-encrypted)$/.test(contentType);
const isCalendar = ({ contentType }: Attachment): boolean => contentType === 'text/calendar';

function toFile({ filename, contentType, content }: Attachment, index: number): MailFile {
  const name = clean(filename ?? '')
    .replaceAll(/[\s/\\]+/g, ' ')
    .trim()
    .slice(0, 200);
  return { name: name === '' ? `part-${index + 1}` : name, mime: contentType.slice(0, 127), data: content };
}

/** Without what moves the cursor, hides text or is half a character. */
const clean = (text: string): string =>
  text.toWellFormed().replaceAll(/(?![\t\n\r])\p{Cc}|[\u200b\u202a-\u202e\u2060-\u2069\ufeff]/gu, '');
