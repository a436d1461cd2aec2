import { splitMessage } from '@svc/connector-kit';
import { renderMarkdown, telegramHtml } from '@svc/connector-kit/markdown';
import MailComposer from 'nodemailer/lib/mail-composer/index.js';

/** A file that goes along, whole. */
export type MailFile = { name: string; mime: string; data: Buffer };

export type MailWords = {
  from: string;
  /** Shown beside the address. */
  fromName: string;
  to: string;
  subject: string;
  /** Markdown. */
  text: string;
  /** Message-IDs, without their angle brackets. `before`: the thread, its first mail first. */
  id: string;
  answers: string | null;
  before: readonly string[];
  files: readonly MailFile[];
};

/** The parser of Markdown takes so much at once. */
const mostParsed = 16_000;

/** A whole mail: as text, and as simple HTML that asks for nothing from anywhere. Programs see that no person wrote it (RFC 3834). */
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
