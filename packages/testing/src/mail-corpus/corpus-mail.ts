/** What becomes of a mail: one answer, or none for the reason that the log gives. */
export type Fate = 'answered' | { never: RegExp };

export type CorpusMail = {
  name: string;
  /** The address in its From, of nobody else in the corpus where it is one; what it is answered to. */
  from: string;
  /** Its sender by SMTP; empty for a bounce. */
  envelopeFrom: string;
  /** The mail as the own server hands it to the mailbox. Made when asked for: some are large. */
  raw(): Buffer;
  fate: Fate;
  /** Words that are to be read in it. */
  says?: string;
};

export const ownServer = 'mx.home.example';
export const mailbox = 'bot@home.example';
export const date = 'Mon, 23 Nov 2026 10:00:00 +0000';

/** What the own server writes above a mail: its word on the origin, and where the mail came from. */
export const stamp = (results: string): string =>
  [
    `Authentication-Results: ${ownServer}; ${results}`,
    `Received: from out.friend.example (out.friend.example [192.0.2.1])\r\n\tby ${ownServer} with ESMTPS id 4711; ${date}`,
    '',
  ].join('\r\n');

/** What Dovecot writes above it when it takes it. */
export const delivered = ({ envelopeFrom, raw }: Pick<CorpusMail, 'envelopeFrom' | 'raw'>): Buffer =>
  Buffer.concat([
    Buffer.from(
      `Return-Path: <${envelopeFrom}>\r\nDelivered-To: ${mailbox}\r\nReceived: from ${ownServer}\r\n\tby ${ownServer} with LMTP id 4712\r\n\tfor <${mailbox}>; ${date}\r\n`,
    ),
    raw(),
  ]);

/** Lines and bytes, each ended as lines of mail are. */
export const lines = (...parts: readonly (string | Buffer)[]): Buffer =>
  Buffer.concat(parts.flatMap((part) => [Buffer.from(part), Buffer.from('\r\n')]));
