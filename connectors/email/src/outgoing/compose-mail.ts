import { splitMessage } from '@svc/connector-kit';
import { renderMarkdown, telegramHtml } from '@svc/connector-kit/markdown';
import MailComposer from 'nodemailer/lib/mail-composer/index.js';

/** A complete file to attach. */
export type MailFile = { name: string; mime: string; data: Buffer };

export type MailWords = {
  from: string;
  /** The name shown with the address. */
  fromName: string;
  to: string;
  subject: string;
  /** Markdown. */
  text: string;
  /** Message-IDs without angle brackets. `before`: the thread, starting with its first mail. */
  id: string;
  answers: string | null;
  before: readonly string[];
  files: readonly MailFile[];
};

/** Maximum length that the Markdown parser accepts at once. */
const mostParsed = 16_000;

/** A complete mail: as text, and as simple HTML that loads nothing. Its headers tell programs that no person wrote it (RFC 3834). */
export async function composeMail(words: MailWords): Promise<Buffer> {
  const { from, fromName, to, subject, text, id, answers, before, files } = words;
  const html = splitMessage(text, mostParsed)
    .map((part) => renderMarkdown(part, telegramHtml))
    .join('\n');
  const mail = new MailComposer({
    from: { name: fromName, address: from },
    to: { name: '', address: to },
    subject,
    text,
    html: `<div style="white-space: pre-wrap">${html}</div>`,
    messageId: `<${id}>`,
    ...(answers !== null && { inReplyTo: `<${answers}>` }),
    ...(before.length > 0 && { references: before.map((one) => `<${one}>`) }),
    attachments: files.map(({ name, mime, data }) => ({ filename: name, contentType: mime, content: data })),
    headers: { 'Auto-Submitted': answers === null ? 'auto-generated' : 'auto-replied' },
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  return mail.compile().build();
}
