/** The fate of a mail: one answer, or none for the reason in the log. */
export type Fate = 'answered' | { never: RegExp };

export type CorpusMail = {
  name: string;
  /** The address in its From, of nobody else in the corpus where it is one; what it is answered to. */
  from: string;
  /** Its SMTP sender; empty for a bounce. */
  envelopeFrom: string;
  /** The mail as our server delivers it to the mailbox. Generated on demand, because some are large. */
  raw(): Buffer;
  fate: Fate;
  /** Words that the reader must find in it. */
  says?: string;
};

export const ownServer = 'mx.home.example';
export const mailbox = 'bot@home.example';
export const date = 'Mon, 23 Nov 2026 10:00:00 +0000';

/** The headers that our server adds to a mail: its authentication results, and where the mail came from. */
export const stamp = (results: string): string =>
  [
    `Authentication-Results: ${ownServer}; ${results}`,
    `Received: from out.friend.example (out.friend.example [192.0.2.1])\r\n\tby ${ownServer} with ESMTPS id 4711; ${date}`,
    '',
  ].join('\r\n');

/** The headers that Dovecot adds on delivery. */
export const delivered = ({ envelopeFrom, raw }: Pick<CorpusMail, 'envelopeFrom' | 'raw'>): Buffer =>
  Buffer.concat([
    Buffer.from(
      `Return-Path: <${envelopeFrom}>\r\nDelivered-To: ${mailbox}\r\nReceived: from ${ownServer}\r\n\tby ${ownServer} with LMTP id 4712\r\n\tfor <${mailbox}>; ${date}\r\n`,
    ),
    raw(),
  ]);

/** Lines and bytes, each ended by CRLF. */
export const lines = (...parts: readonly (string | Buffer)[]): Buffer =>
  Buffer.concat(parts.flatMap((part) => [Buffer.from(part), Buffer.from('\r\n')]));
