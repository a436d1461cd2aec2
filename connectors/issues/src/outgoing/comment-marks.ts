/** A mark that nobody sees, by which a comment of ours is found again: what part of which answer it is. */
export const markOf = (nonce: string, about?: string): string =>
  `<!-- svc:${Buffer.from(nonce).toString('hex')}${about === undefined ? '' : ` ${about}`} -->`;

/** A text with its mark. It stands at the end, where it is in nobody's way in mails. */
export const withMark = (text: string, nonce: string, about?: string): string => `${text}\n\n${markOf(nonce, about)}`;

/** The mark of a comment, with the line breaks before it; empty for one that has none. */
export const markIn = (body: string): string => /\n*<!-- svc:[0-9a-f]+(?: [\w-]+)? -->\s*$/.exec(body)?.[0] ?? '';

export const hasNonce = (body: string, nonce: string): boolean =>
  markIn(body).includes(`svc:${Buffer.from(nonce).toString('hex')}`);
/** The name of what a comment answers; undefined for one that does not say. */
export const aboutIn = (body: string): string | undefined => / ([\w-]+) -->\s*$/.exec(markIn(body))?.[1];
