import { isUtf8 } from 'node:buffer';
import { convert, type HtmlToTextOptions } from 'html-to-text';
import { simpleParser, type Attachment, type ParsedMail, type SimpleParserOptions } from 'mailparser';
import { calendarText } from './calendar-text.ts';
import { cutQuote } from './cut-quote.ts';
import { withCharsets } from './guess-charset.ts';

export type MailFile = { name: string; mime: string; data: Buffer };
/** The content of a mail. `text` has neither quotes nor the signature; `cut` is what was removed. */
export type MailBody = { text: string; cut: string; invitations: string[]; files: MailFile[]; leftOut: number };

/** Longest text that is processed, in characters. */
const longest = 500_000;
const longestHtml = 5_000_000;
/** Images are removed: the address of an image could tell the sender who reads the mail. */
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
/** Maximum number of parts that become files; an envelope cannot hold more. */
const mostFiles = 32;

/**
 * Reads a whole mail. HTML is converted to text when there is no plain text, and nothing is ever fetched for it. Rejects for a mail that
 * cannot be parsed; then only its header is known.
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
    // A mail that is only a quote, such as a forward, keeps it as its text.
    text: kept === '' ? quoted : kept,
    cut: [...(kept === '' ? [] : [quoted]), signature].filter((part) => part !== '').join('\n\n'),
    invitations: invitations.filter((one) => one !== null),
    files: files.slice(0, mostFiles).map(toFile),
    leftOut: Math.max(0, files.length - mostFiles),
  };
}

/** Decodes a subject: programs encode the whole of it, including the reply prefix, as soon as it contains a non-ASCII letter. */
export async function readSubject(written: string): Promise<string> {
  const line = written.replaceAll(/[\r\n]+/g, ' ').slice(0, 5000);
  const { subject = '' } = await simpleParser(Buffer.from(`Subject: ${line}\r\n\r\n`));
  return clean(subject).replaceAll(/\s+/g, ' ').trim().slice(0, 500).toWellFormed();
}

function textOf({ text = '', html }: ParsedMail): string {
  if (text.trim() !== '' || html === false) return text;
  return convert(html.slice(0, longestHtml), htmlOptions);
}

/** Detached signatures, and the part that names the encryption: some companies add one to each mail. */
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

/** Removes control characters that move the cursor or hide text, and lone surrogates. */
const clean = (text: string): string =>
  text.toWellFormed().replaceAll(/(?![\t\n\r])\p{Cc}|[\u200b\u202a-\u202e\u2060-\u2069\ufeff]/gu, '');
