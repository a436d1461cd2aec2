import { date, lines, mailbox } from './corpus-mail.ts';
import type { Written } from './ordinary-mails.ts';

/** Odd mails from people: examples of RFCs, and variants that programs produce. Each is answered. */
export type Odd = (from: string, id: string) => Written;

export const head = (from: string, id: string, ...more: string[]): string[] => [
  `From: Ann <${from}>`,
  `To: ${mailbox}`,
  'Subject: Lunch',
  `Message-ID: <${id}@friend.example>`,
  `Date: ${date}`,
  ...more,
];
export const says = 'Shall we eat?';
export const plain =
  (...more: string[]): Odd =>
  (from, id) => ({ raw: lines(...head(from, id, ...more), '', says), says });
export const mime =
  (type: string, ...body: readonly (string | Buffer)[]): Odd =>
  (from, id) => ({ raw: lines(...head(from, id, 'MIME-Version: 1.0', `Content-Type: ${type}`), '', ...body) });
/** Which says something all the same. */
export const legible =
  (odd: Odd): Odd =>
  (from, id) => ({ ...odd(from, id), says });
